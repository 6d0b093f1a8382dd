-- Nodes that leave their place.
insert into node (run, number, state, reason, at, finished, items, begun, late, origin, failure)
values (:run, :number, :state, :reason, :at, :finished, :items, :begun, :late, :origin, :failure)
