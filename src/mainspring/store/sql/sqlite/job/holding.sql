-- Those of these jobs whose leases these claims still hold, and of which nobody has asked that they be cancelled: the fence.
select lease.job from json_each(:claims) as one cross join lease on lease.job = cast(one.key as integer)
where lease.claim = one.value and lease.cancel_at is null
