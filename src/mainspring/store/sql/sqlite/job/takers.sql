-- Those of these jobs whose parameters take something from their run, and what.
select id, run, node, item, params, wants from job
where id in (select value from json_each(:jobs)) and wants is not null order by id desc
