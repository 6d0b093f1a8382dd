-- Rows that belong to no run. Nodes that a resume keeps are stored before their run is.
select 'node', run from node where origin is null and not exists (select 1 from run where run.id = node.run)
union select 'node_waiting', run from node_waiting where not exists (select 1 from run where run.id = node_waiting.run)
union select 'node_lined', run from node_lined where not exists (select 1 from run where run.id = node_lined.run)
union select 'errand', run from errand where not exists (select 1 from run where run.id = errand.run)
