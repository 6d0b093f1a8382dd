-- Nobody is refused any more.
drop function refuse_relocated()
