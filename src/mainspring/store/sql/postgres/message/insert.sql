-- Messages of a topic.
insert into message (topic, number, at, actor, data)
select * from unnest(:topic::text[], :number::bigint[], :at::bigint[], :actor::text[], :data::text[])
