-- What a try came to.
update webhook set delivered = delivered + :delivered, failed = failed + :failed,
  reached = case when :delivered > 0 then :now else reached end, trouble = :trouble
where id = :webhook
