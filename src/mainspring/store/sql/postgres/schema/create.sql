-- Our schema.
do 'begin execute format(''create schema if not exists %I'', current_setting(''mainspring.schema'')); end'
