-- How many jobs of each lane and task are in each state, as far as the reader "depths" has counted the event history.

create table depth (
  lane bigint not null,
  task text not null,
  state text not null,
  jobs bigint not null,
  primary key (lane, task, state)
);
