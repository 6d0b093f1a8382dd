-- All that an idle sweeper asks, in one statement.
select
  (select min(at) from (select min(at) as at from due union all select min(at) as at from errand) as soonest) as next_due,
  (select coalesce(json_agg(json_build_array(job, claim, until)), '[]')::text from lease where until < :horizon) as expiring,
  (select min(at) from expiry) as next_expiry
