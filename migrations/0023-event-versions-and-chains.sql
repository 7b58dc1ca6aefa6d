-- The version of an event's type at the time at which it was recorded, so that an event that is read or delivered after an
-- upgrade still says which version its data has.
alter table event_outbox add version smallint not null default 1;
alter table events add version smallint not null default 1;

-- The chain of events that a turn belongs to, because of the request that created it: the events of the turn continue it.
-- Null when the request belonged to none.
alter table turns add event_chain_id uuid, add event_depth smallint;
