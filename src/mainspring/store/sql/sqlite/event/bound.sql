-- The newest cursor; history is complete up to there, as one writes at a time.
select coalesce(max(seq), 0) as seq from event
