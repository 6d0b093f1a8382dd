-- How many jobs of each queue and task are in each state, as far as that is counted.
select lane.queue, depth.task, depth.state, depth.jobs from depth join lane on lane.id = depth.lane
