-- Versions of messages: a person sends a message again, changed or not, in place of an earlier one.

-- Numbers of earlier turns that are not part of the conversation of this turn: those that it replaced, and those of other
-- branches. Null for none.
alter table turns add column skipped int4multirange;
-- The number of the turn whose message is the first version of the message of this turn. Null for the first version.
alter table turns add column version_of integer;
-- The turn failed and was tried again, so that its message is not a version that people choose from.
alter table turns add column is_retried boolean;
-- What the next turn skips, and what lists of messages leave out. Null while no message has versions.
alter table sessions add column skipped int4multirange;
