-- The connector endpoint that received the message of a turn. Null outside of chats of providers, and for turns of servers before this column.
alter table turns add column endpoint_id uuid;
