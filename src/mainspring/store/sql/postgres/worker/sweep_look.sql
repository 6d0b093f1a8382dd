-- All that an idle sweeper asks, in one statement.
select
  (select min(at) from due) as next_due,
  (select coalesce(json_agg(json_build_array(job, claim, until)), '[]')::text from lease where until < :horizon) as expiring,
  (select min(at) from expiry) as next_expiry
