-- Without statistics the plans are those that the tests know.
drop table if exists sqlite_stat1
