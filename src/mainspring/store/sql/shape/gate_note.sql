-- How far the move is, and the tables are shut again.
update relocation set told = {one}, progress = {one}, shut = 1
