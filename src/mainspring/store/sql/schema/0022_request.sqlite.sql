-- What a server says while it works on a request is about that request.

alter table record add column request text;
