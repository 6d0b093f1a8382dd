-- The rows of a table behind a key.
select {columns} from {table} where ({key}) > ({marks}) order by {key} limit {one}
