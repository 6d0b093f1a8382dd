-- Whose session this is, and until when.
select name, role, queues, expires from signin join account on account.id = signin.account
where digest = :digest and expires > :now and removed is null
