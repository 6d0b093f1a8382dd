-- When the next tick is to be decided.
select min(at) as at from next_tick where at is not null
