-- A change is a line of the log of servers, of an answer and of the audit trail: its request tells that they belong together.

alter table trail add column request text;
