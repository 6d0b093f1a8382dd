-- Some events of a run that goes, and of its nodes.
delete from event where seq in (select seq from event where run = :run limit :limit) returning seq
