-- The number of a lane.
select id from lane where queue = :queue and app = :app and lodging = :lodging and requires = :requires and slots = :slots
