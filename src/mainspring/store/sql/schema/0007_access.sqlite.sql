-- Who may ask over REST, and who changed what.

create table token (
  id integer primary key,
  name text not null,
  role text not null,
  digest text not null unique,     -- of the secret, which is nowhere
  created integer not null,
  created_by text not null,
  expires integer,
  used integer,                    -- exact to a minute
  revoked integer,
  revoked_by text
) strict;

create unique index token_name on token (name) where revoked is null;

create table trail (               -- what people changed; it is only added to
  seq integer primary key,
  at integer not null,
  actor text not null,
  action text not null,
  subject text not null,
  before text,                     -- JSON
  after text                       -- JSON
) strict;

create index trail_subject on trail (subject, seq);
