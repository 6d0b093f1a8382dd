-- What a new job stands on: the declaration of its task, its lane, its policy; and how many tasks have its short name.
select
  (select declaration from task where name = :task) as declaration,
  (select id from lane where queue = :queue and app = :app and lodging = :lodging and requires = :requires and slots = :slots)
    as lane,
  (select id from policy where document = :document) as policy,
  (select count(*) from task as namesake where namesake.short = (select short from task where name = :task)) as namesakes
