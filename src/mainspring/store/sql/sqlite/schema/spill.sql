-- Fills pages of a transaction that is rolled back, so that the write-ahead log grows to what it will need.
create table spill as select zeroblob(:bytes) as bytes
