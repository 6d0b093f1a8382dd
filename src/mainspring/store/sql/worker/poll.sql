-- All that an idle worker asks, in one statement.
select
  (select min(at) from due),
  exists (select 1 from ready where lane in (select value from json_each(:lanes))),
  (select json_group_array(json_array(job, claim)) from lease where worker = :worker and cancel_at is not null),
  (select json_group_array(json_array(job, claim, until)) from lease where until < :horizon),
  (select min(at) from expiry),
  (select count(*) from lane),
  (select coalesce(max(generation), 0) || '/' || count(*) from task where app = :app)
