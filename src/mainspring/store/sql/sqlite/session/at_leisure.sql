-- Nothing limits how long a look may take.
select 1 as leisure
