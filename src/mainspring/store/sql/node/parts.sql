-- Parts of a node that need not be done again.
select item, source, origin, again, version, kept from node_part
where run = :run and number = :number and item >= :first and item <= :last order by item
