-- A block of ids, inside the transaction that inserts them.
update counter set next = next + :count where name = :name returning next - :count as first
