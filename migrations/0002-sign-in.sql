-- Passwords, second factors and sign-in sessions. A person has one row in `users` for all orgs, so no table here carries
-- org_id. Better Auth writes the first four tables through src/identity/sign-in/storage-queries.ts.
--
-- `reach` is the org scope: the orgs that a credential opens, null for all orgs of the person. What began with the
-- sign-in link of one org opens that org only: an email address is not verified here, so only the operator vouches for
-- all orgs.

create table sign_in_sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- The cookie carries it with a signature, so a copy of this table does not let anybody sign in.
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  reach uuid[],
  -- Failed sign-ins before this session, shown to its person: {count, lastAt, addresses}.
  failed_sign_ins jsonb
);
create index sign_in_sessions_by_user on sign_in_sessions (user_id);

-- A person has one password and one second factor per org scope, so that one org never asks for a password or second
-- factor that was set up by the invitation of another org. The scopes of a person never overlap; the application
-- ensures this under a lock on the person.
create table sign_in_accounts (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  provider_id text not null,
  account_id text not null,
  -- scrypt with salt.
  password text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  reach uuid[],
  -- Failed sign-ins since the last successful one with this password, and the last five addresses they came from.
  failed_count integer not null default 0,
  failed_at timestamptz,
  failed_from text[] not null default '{}'
);
create unique index sign_in_accounts_scope_key on sign_in_accounts (user_id, provider_id, reach) nulls not distinct;

create table sign_in_verifications (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  reach uuid[]
);
create index sign_in_verifications_by_identifier on sign_in_verifications (identifier);
create index sign_in_verifications_by_expiry on sign_in_verifications (expires_at);

create table two_factors (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- `secret` and `backup_codes` are encrypted.
  secret text not null,
  backup_codes text not null,
  verified boolean not null default false,
  failed_verification_count integer not null default 0,
  locked_until timestamptz,
  -- The TOTP time step of the newest accepted code. Codes of this step and of earlier ones are rejected.
  last_step bigint not null default 0,
  reach uuid[]
);
create unique index two_factors_scope_key on two_factors (user_id, reach) nulls not distinct;

-- One row: the secret that signs session cookies and encrypts second factors, encrypted under ENCRYPTION_KEYS.
create table sign_in_secret (
  singleton boolean primary key default true check (singleton),
  sealed text not null
);

create table sign_in_links (
  hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null,
  reach uuid[]
);
create index sign_in_links_by_user on sign_in_links (user_id);

create table step_up_tokens (
  hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null,
  reach uuid[]
);
create index step_up_tokens_by_user on step_up_tokens (user_id);

-- Failed attempts by target (`subject`: a password, an unknown email address, a step-up) and origin (`source`: a browser
-- that has signed in before, or any other). Attempts are rejected until blocked_until.
create table sign_in_throttles (
  subject text not null,
  source text not null,
  attempts integer not null,
  blocked_until timestamptz not null,
  updated_at timestamptz not null,
  primary key (subject, source)
);
create index sign_in_throttles_by_time on sign_in_throttles (updated_at);
