-- Who may do what. Every tenant table carries org_id, first in its primary key, and every foreign key inside a
-- tenant carries it too, so that a row can never point into another org and any table can be spread over machines
-- by org_id.

create table orgs (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 120),
  auth_epoch bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index orgs_by_auth_epoch on orgs (auth_epoch);

-- People exist once, whatever orgs they belong to: no org_id.
create table users (
  id uuid primary key,
  email text not null,
  name text not null,
  email_verified boolean not null default false,
  image text,
  two_factor_enabled boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- In lower case: that is how it is compared.
create unique index users_email_key on users (email);

create table members (
  org_id uuid not null references orgs (id),
  id uuid not null,
  user_id uuid not null references users (id),
  role text not null check (role in ('owner', 'admin', 'billing_manager', 'member')),
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, id),
  constraint members_user_key unique (org_id, user_id)
);
create index members_by_user on members (user_id);

create table workspaces (
  org_id uuid not null references orgs (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 120),
  slug text not null,
  is_default boolean not null default false,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (org_id, id)
);
create unique index workspaces_slug_key on workspaces (org_id, slug) where deleted_at is null;
create unique index workspaces_default_key on workspaces (org_id) where is_default and deleted_at is null;

create table workspace_members (
  org_id uuid not null,
  workspace_id uuid not null,
  user_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (org_id, workspace_id, user_id),
  foreign key (org_id, workspace_id) references workspaces (org_id, id) on delete cascade,
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade
);
create index workspace_members_by_user on workspace_members (org_id, user_id);

create table api_keys (
  org_id uuid not null references orgs (id),
  id uuid not null,
  user_id uuid not null,
  workspace_id uuid,
  name text not null check (char_length(name) between 1 and 120),
  prefix text not null,
  last4 text not null,
  hash bytea not null,
  scopes text[] not null default '{}',
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade,
  foreign key (org_id, workspace_id) references workspaces (org_id, id)
);
create unique index api_keys_hash_key on api_keys (hash);
create index api_keys_by_user on api_keys (org_id, user_id);

create table audit_log (
  org_id uuid not null references orgs (id),
  id uuid not null,
  at timestamptz not null default now(),
  user_id uuid,
  api_key_id uuid,
  actor_name text not null,
  action text not null,
  resource_type text not null,
  resource_id text,
  details jsonb not null default '{}',
  ip text,
  request_id text,
  primary key (org_id, id)
);
create index audit_log_by_time on audit_log (org_id, at desc, id desc);

-- Every API process caches who a key stands for and asks, before it trusts the cache, whether the epoch moved.
-- One row, so that the transactions which change authority take turns and the epochs are seen in commit order.
create table auth_epoch (
  singleton boolean primary key default true check (singleton),
  epoch bigint not null default 1
);
insert into auth_epoch default values;

create function bump_auth_epoch(org uuid) returns void language sql as $$
  with bumped as (update auth_epoch set epoch = epoch + 1 returning epoch)
  update orgs set auth_epoch = bumped.epoch from bumped where orgs.id = org
$$;

create function authority_changed() returns trigger language plpgsql as $$
begin
  perform bump_auth_epoch(coalesce(new.org_id, old.org_id));
  return null;
end
$$;

create trigger members_authority after insert or delete or update of role on members
  for each row execute function authority_changed();
create trigger workspaces_authority after insert or delete or update of deleted_at, is_default, name on workspaces
  for each row execute function authority_changed();
create trigger workspace_members_authority after insert or delete on workspace_members
  for each row execute function authority_changed();
-- Not on last_used_at: using a key changes nothing about what it may do.
create trigger api_keys_authority after insert or delete or update of revoked_at, expires_at, scopes, workspace_id, name on api_keys
  for each row execute function authority_changed();

create function user_authority_changed() returns trigger language plpgsql as $$
begin
  perform bump_auth_epoch(org_id) from members where user_id = new.id;
  return null;
end
$$;
create trigger users_authority after update of email, name on users
  for each row execute function user_authority_changed();

create function org_authority_changed() returns trigger language plpgsql as $$
begin
  perform bump_auth_epoch(new.id);
  return null;
end
$$;
create trigger orgs_authority after update of name on orgs
  for each row execute function org_authority_changed();
