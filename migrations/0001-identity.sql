-- Orgs, workspaces, people, API keys and the audit log. Every tenant table carries org_id, first in its primary key, and
-- every foreign key inside a tenant carries it too: a row can never point into another org, and the tables can be
-- distributed over several machines by org_id.

create table orgs (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 120),
  auth_epoch bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index orgs_by_auth_epoch on orgs (auth_epoch);

-- One row per person, shared by all orgs, so there is no org_id.
create table users (
  id uuid primary key,
  -- Stored in lower case, because it is compared byte by byte.
  email text not null,
  name text not null,
  email_verified boolean not null default false,
  image text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The last sign-in. A person who has signed in is asked before another org makes them a member.
  signed_in_at timestamptz
);
create unique index users_email_key on users (email);

create table members (
  org_id uuid not null references orgs (id),
  id uuid not null,
  user_id uuid not null references users (id),
  role text not null check (role in ('owner', 'admin', 'billing_manager', 'member')),
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Belongs to the org: an org must not read what another org calls the same person.
  name text not null,
  primary key (org_id, id),
  constraint members_user_key unique (org_id, user_id)
);
create index members_by_user on members (user_id);

-- People who have not yet accepted their membership. No other table of the org refers to them before they accept, so no
-- query can treat them as members. The id becomes the id of the membership.
create table invitations (
  org_id uuid not null references orgs (id),
  id uuid not null,
  user_id uuid not null references users (id),
  name text not null,
  role text not null check (role in ('owner', 'admin', 'billing_manager', 'member')),
  workspace_ids uuid[] not null,
  invited_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  constraint invitations_user_key unique (org_id, user_id)
);
create index invitations_by_user on invitations (user_id);

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

-- The audit log of each org is a chain of hashes: a sealed entry cannot be changed, removed, inserted or moved without
-- breaking the chain. Entries are inserted without a place in the chain; the sealer assigns one within seconds.
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
  -- The place in the org's chain, from 1; null until the entry is sealed.
  seq bigint,
  -- SHA-256 of the previous entry's hash and all fields of this entry; null until the entry is sealed.
  hash bytea,
  primary key (org_id, id)
);
create index audit_log_by_time on audit_log (org_id, at desc, id desc);
create unique index audit_log_by_seq on audit_log (org_id, seq) where seq is not null;
create index audit_log_unsealed on audit_log (org_id, at, id) where seq is null;

-- Both ends of an org's audit chain.
create table audit_heads (
  org_id uuid primary key references orgs (id),
  -- The last sealed entry.
  seq bigint not null default 0,
  hash bytea not null default decode(repeat('00', 32), 'hex'),
  -- The last entry that retention removed from the start of the chain. Verification starts after it.
  anchor_seq bigint not null default 0,
  anchor_hash bytea not null default decode(repeat('00', 32), 'hex')
);

-- Every API process caches the authority of each key and compares epochs before it trusts its cache. There is one row,
-- so that transactions that change authority run one after another and epochs become visible in commit order.
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
-- last_used_at is left out: it changes with every use and grants nothing.
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
