-- What the running code last said of its progress.
update lease set details = :details where job = :job and claim = :claim
