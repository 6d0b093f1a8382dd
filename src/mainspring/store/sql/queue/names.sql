-- Every queue that a job or an operator has named.
select queue as name from lane union select name from queue
