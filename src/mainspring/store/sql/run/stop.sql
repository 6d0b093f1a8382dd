-- A run is told to stop; the first reason stays.
update run set stop = :stop, stop_at = :now, stop_by = :actor where id = :run and stop is null and state is null returning parallel
