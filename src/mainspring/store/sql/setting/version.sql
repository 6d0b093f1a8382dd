-- Another number with every change of what is configured or said of a queue.
select next from counter where name = 'rules'
