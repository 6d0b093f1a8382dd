-- Nodes that may go when there is room for them.
insert into node_lined (run, number) select * from unnest(:run::bigint[], :number::bigint[])
