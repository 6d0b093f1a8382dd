-- All of one snapshot into a new file.
vacuum into :path
