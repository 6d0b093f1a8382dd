-- Nobody else counts the running jobs of this queue until this transaction has ended.
update queue set counts = counts + 1 where name = :queue
