-- The person to whom the subject of an event belongs: a connection or an API key. It decides who may read the event.
alter table event_outbox add owner_id uuid;
alter table events add owner_id uuid;
