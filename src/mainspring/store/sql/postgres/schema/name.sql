-- What a schema is to be called: a statement that makes one takes no parameters.
select set_config('mainspring.schema', :schema, true)
