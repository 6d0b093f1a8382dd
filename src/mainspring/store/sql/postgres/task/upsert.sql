-- Record declarations; an older generation never overwrites a newer one.
insert into task (name, app, short, declaration, code_hash, generation, seen_at)
select * from unnest(:name::text[], :app::text[], :short::text[], :declaration::text[], :code_hash::text[],
  :generation::bigint[], :seen_at::bigint[])
order by 1
on conflict (name) do update set declaration = excluded.declaration, code_hash = excluded.code_hash,
  generation = excluded.generation, seen_at = excluded.seen_at
where excluded.generation >= task.generation
