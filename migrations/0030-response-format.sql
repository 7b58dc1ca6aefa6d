-- The format that the reply of a turn must have: { type: 'json_schema', schema, name?, description?, strict? }. Null: text.
alter table turns add column response_format jsonb;
