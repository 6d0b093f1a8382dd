-- How many jobs of each lane and task are in each state, as far as that is counted.
select depth.lane, lane.queue, depth.task, depth.state, depth.jobs from depth join lane on lane.id = depth.lane
