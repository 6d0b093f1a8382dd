-- A delivery that has ended is made once more, at once.
update delivery set state = 'pending', ended = null, due = :now, tries = 0, most = :most, urgent = 1
where id = :delivery and webhook = :webhook and ended is not null
returning id
