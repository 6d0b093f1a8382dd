-- Everything that is configured here.
select name, layer, value, changed, changed_by from setting order by name, layer
