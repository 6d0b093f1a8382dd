-- How many deliveries of a webhook are under way.
select count(*) as deliveries from delivery where webhook = :webhook and ended is null and until >= :now
