-- Leases that ended before an instant, and waiting jobs that were due before it: somebody should have swept them.
select 'lease' as place, count(*) as rows_, min(until) as since from lease where until < :before
union all select 'due', count(*), min(at) from due where at < :before
