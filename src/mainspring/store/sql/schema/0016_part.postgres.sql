-- Parts of nodes that a resume does again: what of them need not be done again.

create table node_part (
  run bigint not null,
  number bigint not null,
  item bigint not null,           -- of a map; -1: the node itself
  source bigint not null,         -- the job, or the nested run, of an older run that has its result, or that goes on
  origin bigint not null,         -- the run that it is of
  again bigint,                   -- of a nested run that goes on: the number that its resume has, with its kept nodes, from the start
  version bigint,                 -- its definition
  kept bigint,                    -- how many nodes it begins with
  primary key (run, number, item)
);

create index node_part_origin on node_part (origin);
create index node_part_again on node_part (again) where again is not null;
create index node_part_below on node_part (run) where again is not null;
