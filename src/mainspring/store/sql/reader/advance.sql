-- A reader goes on, unless another process has gone on for it.
update reader set cursor = :cursor where name = :name and cursor = :before returning cursor
