-- The server learns how large the table is, rather than when it next looks.
analyze {table}
