-- A code hash of an app is seen for the first time.
insert into generation (app, code_hash, number, seen_at)
values (:app, :code_hash, (select coalesce(max(number), 0) + 1 from generation where app = :app), :now)
returning number
