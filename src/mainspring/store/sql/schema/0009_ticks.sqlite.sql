-- Schedules start runs too.

alter table tick add column run integer;
alter table run add column tick text; -- JSON: the tick that it was made by
