-- What the catalog holds of one app.
select name, declaration, code_hash, generation from task where app = :app
