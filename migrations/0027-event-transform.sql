-- The expression whose result an event endpoint receives instead of the event. The check is a command of its own, because
-- Citus does not add a column with one.
alter table event_endpoints add transform text;
alter table event_endpoints add constraint event_endpoints_transform check (char_length(transform) between 1 and 8192);
