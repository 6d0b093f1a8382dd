-- Regular ticks that were recorded as missed, and have not come yet.
delete from tick where schedule = :schedule and origin = 'regular' and outcome = 'missed' and nominal > :now
