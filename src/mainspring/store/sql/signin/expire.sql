-- Sessions that have run out are forgotten.
delete from signin where expires <= :now
