-- Topics: messages in order, and who makes jobs or runs of them.

create table topic (
  name text primary key,
  last integer not null              -- number of its newest message; the row is held until the publisher commits, so none is passed
) strict;

create table message (
  topic text not null,
  number integer not null,
  at integer not null,
  actor text not null,
  data text not null,              -- JSON
  primary key (topic, number)
) strict;

create index message_at on message (at);

create table subscription (
  name text primary key,
  topic text not null,
  task text,                       -- one of these two
  workflow text,
  params text not null,            -- JSON: what each of its jobs or runs has besides the message
  cursor integer not null,          -- the last message that was taken
  made integer not null,            -- jobs or runs
  refused integer not null,         -- messages of which none could be made
  refusal text,                    -- why, of the last of them
  created integer not null,
  created_by text not null
) strict;

create index subscription_topic on subscription (topic);
