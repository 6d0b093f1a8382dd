-- Topics: messages in order, and who makes jobs or runs of them.

create table topic (
  name text primary key,
  last bigint not null              -- number of its newest message; the row is held until the publisher commits, so none is passed
);

create table message (
  topic text not null,
  number bigint not null,
  at bigint not null,
  actor text not null,
  data text not null,              -- JSON
  primary key (topic, number)
);

create index message_at on message (at);

create table subscription (
  name text primary key,
  topic text not null,
  task text,                       -- one of these two
  workflow text,
  params text not null,            -- JSON: what each of its jobs or runs has besides the message
  cursor bigint not null,          -- the last message that was taken
  made bigint not null,            -- jobs or runs
  refused bigint not null,         -- messages of which none could be made
  refusal text,                    -- why, of the last of them
  created bigint not null,
  created_by text not null
);

create index subscription_topic on subscription (topic);
