-- For the rest of this transaction the tables take what the move brings.
update relocation set shut = 0
