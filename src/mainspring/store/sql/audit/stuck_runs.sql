-- Runs that have not ended and of which nothing moves: no node is active, and nobody has anything to do for them.
select run.id from run where run.state is null
  and not exists (select 1 from node where node.run = run.id and node.state = 'active')
  and not exists (select 1 from errand where errand.run = run.id) order by run.id
