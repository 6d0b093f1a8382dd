-- Rows as they were elsewhere.
copy {table} ({columns}) from stdin
