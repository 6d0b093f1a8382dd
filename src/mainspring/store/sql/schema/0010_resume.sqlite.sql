-- Runs that resume others: how many nodes they began with, and which node of the older run each of those was.

alter table run add column kept integer;
alter table node add column origin_node integer;
