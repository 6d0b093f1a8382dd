"""What happens to speed when a platform grows: one file for each line of the table, see ``__main__``."""
