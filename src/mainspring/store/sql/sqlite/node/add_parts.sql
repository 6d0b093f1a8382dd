-- A part of a node that need not be done again.
insert into node_part (run, number, item, source, origin, again, version, kept)
values (:run, :number, :item, :source, :origin, :again, :version, :kept)
