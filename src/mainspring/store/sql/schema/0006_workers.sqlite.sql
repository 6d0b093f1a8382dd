-- Workers that have ended: their heartbeats go, so that whoever asks for the living reads only these; when and how it was is
-- kept with the worker, whose name its jobs need. One that speaks again has a heartbeat again, which is what counts.

alter table worker add column gone_at integer;
alter table worker add column gone_as text;
