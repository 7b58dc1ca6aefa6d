-- What people have connected to their account here, with the secrets sealed, and OAuth flows under way.

create table connections (
  org_id uuid not null references orgs (id),
  id uuid not null,
  user_id uuid not null references users (id),
  connector_slug text not null,
  label text not null default '' check (char_length(label) <= 120),
  status text not null check (status in ('pending', 'active', 'error', 'expired', 'revoked')),
  account_id text,
  account_name text,
  scopes text[] not null default '{}',
  -- A JSON object of texts, sealed: credentials by their field, or accessToken and refreshToken.
  secrets text,
  -- Goes up with every change of the secrets: who finds another one than before knows that somebody was faster.
  secrets_version integer not null default 0,
  token_expires_at timestamptz,
  -- From when on whoever needs the token gets a new one first. After a failure: not before.
  refresh_due_at timestamptz,
  -- Whoever holds the lease is the one that talks to the provider about this grant.
  lease_token uuid,
  lease_until timestamptz,
  -- The tools of an MCP server as a person agreed to them, and as it has them now where that is something else.
  pinned_tools jsonb,
  offered_tools jsonb,
  pending_until timestamptz,
  last_used_at timestamptz,
  last_error text,
  -- What came of giving the grant back to the provider. The secrets stay until that is over.
  provider_revocation text check (provider_revocation in ('pending', 'revoked', 'failed', 'unsupported')),
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (org_id, id),
  check ((status = 'revoked') = (deleted_at is not null)),
  check ((status = 'pending') = (pending_until is not null)),
  check (status <> 'pending' or secrets is null)
);
-- One live connection of a person to an account; one that nobody completed is in nobody's way.
create unique index connections_live_key on connections (org_id, user_id, connector_slug, label)
  where deleted_at is null and status <> 'expired';
create index connections_by_creation on connections (org_id, user_id, created_at desc, id desc) where deleted_at is null;
create index connections_overdue on connections (pending_until) where status = 'pending';
-- Which orgs know an account of a provider, for events that name only that.
create index connections_by_account on connections (connector_slug, account_id) where status = 'active';

-- One for each authorize URL that was handed out, gone with its use.
create table oauth_states (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  user_id uuid not null,
  -- SHA-256 of the state: what is in the database completes nothing.
  state_hash bytea not null,
  -- PKCE, sealed.
  verifier text not null,
  redirect_uri text not null,
  expires_at timestamptz not null,
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id)
);
create unique index oauth_states_hash_key on oauth_states (state_hash);
create index oauth_states_by_connection on oauth_states (org_id, connection_id);
create index oauth_states_expired on oauth_states (expires_at);
