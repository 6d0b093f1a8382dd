-- How far a reader is; it goes no further until this transaction has ended.
update reader set cursor = cursor where name = :name returning cursor
