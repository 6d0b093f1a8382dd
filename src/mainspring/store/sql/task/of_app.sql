-- What the catalog holds of one app.
select name, declaration from task where app = :app
