-- All that an idle sweeper asks, in one statement.
select
  (select min(at) from due),
  (select json_group_array(json_array(job, claim, until)) from lease where until < :horizon),
  (select min(at) from expiry)
