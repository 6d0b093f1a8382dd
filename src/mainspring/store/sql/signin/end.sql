-- A session is over.
delete from signin where digest = :digest
