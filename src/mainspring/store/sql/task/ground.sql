-- What a new job stands on: the declaration of its task, its lane, its policy.
select
  (select declaration from task where name = :task) as declaration,
  (select id from lane where queue = :queue and app = :app and lodging = :lodging and requires = :requires and slots = :slots)
    as lane,
  (select id from policy where document = :document) as policy
