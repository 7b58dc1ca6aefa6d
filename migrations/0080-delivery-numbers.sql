-- A way of its own to each row of the queue. An index that a statement is to use shares no column with another one that
-- could seem to do as well while the table is empty.
alter table webhook_queue add column number bigint generated always as identity;
create unique index webhook_queue_by_number on webhook_queue (number);
drop index webhook_queue_by_turn;
create index webhook_queue_by_turn on webhook_queue (webhook_id, retried, due_at);
