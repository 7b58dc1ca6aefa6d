-- Tools that the caller of a turn runs: { tools, choice, fromStep }. Null when the caller gave none.
alter table turns add client_tools jsonb;
-- Texts before which a response of the model ends: an array of strings. Null without any.
alter table turns add stop_sequences jsonb;
