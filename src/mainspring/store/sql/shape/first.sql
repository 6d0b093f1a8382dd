-- The first rows of a table, by its key.
select {columns} from {table} order by {key} limit {one}
