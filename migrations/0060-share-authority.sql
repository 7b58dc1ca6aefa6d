-- A share ends with the API key by which it was created.

-- Null for a share that was created in the console, or by a server of the previous version.
alter table file_shares add column api_key_id uuid;
-- Scopes of that key; empty: all permissions of the creator.
alter table file_shares add column key_scopes text[] not null default '{}';
