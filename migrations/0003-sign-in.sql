-- How people prove who they are. People exist once, whatever orgs they belong to, so nothing here carries org_id.
-- The first four tables are written by Better Auth through src/identity/sign-in/storage-queries.ts.

create table sign_in_sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- The browser's cookie carries it signed, so a copy of this table lets nobody in.
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sign_in_sessions_by_user on sign_in_sessions (user_id);

create table sign_in_accounts (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  provider_id text not null,
  account_id text not null,
  -- scrypt, salted
  password text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (user_id, provider_id)
);

create table sign_in_verifications (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sign_in_verifications_by_identifier on sign_in_verifications (identifier);
create index sign_in_verifications_by_expiry on sign_in_verifications (expires_at);

create table two_factors (
  id uuid primary key,
  user_id uuid not null unique references users (id) on delete cascade,
  -- encrypted, both
  secret text not null,
  backup_codes text not null,
  verified boolean not null default false,
  failed_verification_count integer not null default 0,
  locked_until timestamptz,
  -- The time step of the newest code that was accepted: it and all before it are used up.
  last_step bigint not null default 0
);

-- One row: what signs the sessions' cookies and encrypts the second factors, itself encrypted under ENCRYPTION_KEYS.
create table sign_in_secret (
  singleton boolean primary key default true check (singleton),
  sealed text not null
);

create table sign_in_links (
  hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null
);
create index sign_in_links_by_user on sign_in_links (user_id);

create table step_up_tokens (
  hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null
);
create index step_up_tokens_by_user on step_up_tokens (user_id);
