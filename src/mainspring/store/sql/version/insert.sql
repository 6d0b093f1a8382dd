-- A new version; its nodes are about to come. Where two bring the same one, both fill it.
insert into workflow_version (hash, header, nodes) values (:hash, :header, :nodes)
on conflict (hash) do update set header = excluded.header, idle = null
returning id, whole
