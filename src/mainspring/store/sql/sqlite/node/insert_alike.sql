-- Nodes (a list) that leave their place alike.
insert into node (run, number, state, reason, at, finished, items, begun, late, origin, failure)
select :run, one.value, :state, :reason, :at, :finished, :items, :begun, :late, :origin, :failure from json_each(:number) as one
