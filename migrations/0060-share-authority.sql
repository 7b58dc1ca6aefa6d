-- A share ends with the membership of its creator, and with the API key by which it was created.

delete from file_shares s where not exists (
  select from members m where m.org_id = s.org_id and m.user_id = s.created_by);
alter table file_shares add constraint file_shares_creator_fkey
  foreign key (org_id, created_by) references members (org_id, user_id) on delete cascade;
-- For the cascade.
create index file_shares_by_creator on file_shares (org_id, created_by);

-- Null for a share that was created in the console, or by a server of the previous version.
alter table file_shares add column api_key_id uuid;
-- Scopes of that key; empty: all permissions of the creator.
alter table file_shares add column key_scopes text[] not null default '{}';
