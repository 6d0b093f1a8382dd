-- Runs that came with their definition: no name stands for what a replay of them is to take.

alter table run add column inline integer; -- 1: its name does not stand for its version; null: it was begun by name
