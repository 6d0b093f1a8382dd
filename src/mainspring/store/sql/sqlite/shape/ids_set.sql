-- Job ids go on behind those that were given elsewhere.
update counter set next = {one} where name = 'job'
