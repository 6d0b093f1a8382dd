-- Tells whoever writes where to go, while the gate is shut.
create function refuse_relocated() returns trigger language plpgsql as $$
declare said text;
begin
  select told into said from relocation where shut = 1;
  if found then
    raise exception using errcode = 'MS001', message = said;
  end if;
  return null;
end
$$
