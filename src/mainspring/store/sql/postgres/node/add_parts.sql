-- Parts of nodes that need not be done again.
insert into node_part (run, number, item, source, origin, again, version, kept)
select * from unnest(:run::bigint[], :number::bigint[], :item::bigint[], :source::bigint[], :origin::bigint[], :again::bigint[], :version::bigint[], :kept::bigint[])
