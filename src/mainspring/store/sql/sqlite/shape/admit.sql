-- The table takes everything again.
drop trigger {trigger}
