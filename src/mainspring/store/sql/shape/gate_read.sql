-- What is known of a move.
select move, told, progress from relocation
