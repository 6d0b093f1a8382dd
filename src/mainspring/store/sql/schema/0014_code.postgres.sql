-- The code of each task in each code of its app, so that what a job ran can be compared with what is there now.

create table task_code (
  app text not null,
  code_hash text not null,         -- of the app, as workers have it
  task text not null,
  own text not null,               -- the hash of the task itself
  primary key (app, code_hash, task)
);

insert into task_code (app, code_hash, task, own) select app, code_hash, name, coalesce(declaration::json ->> 'code_hash', '') from task;
