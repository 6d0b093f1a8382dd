-- While the gate is shut, whoever writes is told where to go.
create trigger relocated before insert or update or delete on {table} for each statement execute function refuse_relocated()
