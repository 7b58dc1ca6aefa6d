-- The bytes of the parts of a message as JSON. Null for messages of earlier versions, for which the statements that need it
-- compute it.
alter table messages add column parts_bytes integer;
