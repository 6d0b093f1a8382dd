-- One row: that this database is on the move, what people are told of it, and how far it is. Made by a move, gone with it.
create table relocation (
  id integer primary key check (id = 1),
  move text not null,
  told text not null,
  progress text not null,
  shut integer not null
)
