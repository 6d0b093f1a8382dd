-- While the gate is shut, whoever writes is told where to go.
create trigger {trigger} before update on {table} when (select shut from relocation)
begin
  select raise(abort, (select told from relocation));
end
