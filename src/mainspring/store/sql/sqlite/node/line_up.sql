-- A node may go when there is room for it.
insert into node_lined (run, number) values (:run, :number)
