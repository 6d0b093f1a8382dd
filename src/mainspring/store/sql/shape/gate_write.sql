-- The move begins, or is taken up by nobody else.
insert into relocation (id, move, told, progress, shut) values (1, {one}, {one}, {one}, 1)
