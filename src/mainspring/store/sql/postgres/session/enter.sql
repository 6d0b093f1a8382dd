-- For this transaction, names mean our tables.
select set_config('search_path', :path, true)
