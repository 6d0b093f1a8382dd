-- Parts of nodes that a resume does again: what of them need not be done again.

create table node_part (
  run integer not null,
  number integer not null,
  item integer not null,           -- of a map; -1: the node itself
  source integer not null,         -- the job, or the nested run, of an older run that has its result, or that goes on
  origin integer not null,         -- the run that it is of
  again integer,                   -- of a nested run that goes on: the number that its resume has, with its kept nodes, from the start
  version integer,                 -- its definition
  kept integer,                    -- how many nodes it begins with
  primary key (run, number, item)
) strict, without rowid;

create index node_part_origin on node_part (origin);
create index node_part_again on node_part (again) where again is not null;
create index node_part_below on node_part (run) where again is not null;
