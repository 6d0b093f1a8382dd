-- Record a declaration; an older generation never overwrites a newer one.
insert into task (name, app, short, declaration, code_hash, generation, seen_at)
values (:name, :app, :short, :declaration, :code_hash, :generation, :seen_at)
on conflict (name) do update set declaration = excluded.declaration, code_hash = excluded.code_hash,
  generation = excluded.generation, seen_at = excluded.seen_at
where excluded.generation >= task.generation
