-- An attempt is written once, when it ends; the lease holds it until then.
insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox, failure, details)
values (:job, :number, :outcome, :charge, :worker, :started, :ended, :sandbox, :failure, :details)
