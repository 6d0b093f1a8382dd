-- Jobs past their expiry; those that run or ended keep what they have.
select job from expiry where at <= :now order by at limit :limit
