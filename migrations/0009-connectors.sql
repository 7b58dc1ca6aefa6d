-- People's connections to other products, OAuth flows in progress, the endpoints that providers send events to, and the
-- chats that agents answer in.

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
  -- An encrypted JSON object of strings: credentials by field name, or accessToken and refreshToken.
  secrets text,
  -- Incremented with every change of the secrets, so that a worker detects that another one refreshed them first.
  secrets_version integer not null default 0,
  token_expires_at timestamptz,
  -- From this time on, the next use refreshes the token first; after a failed refresh, not before this time.
  refresh_due_at timestamptz,
  -- Only the worker with the lease refreshes or revokes the grant at the provider.
  lease_token uuid,
  lease_until timestamptz,
  -- The tools of an MCP server that a person approved, and its current tools when they differ.
  pinned_tools jsonb,
  offered_tools jsonb,
  pending_until timestamptz,
  last_used_at timestamptz,
  last_error text,
  -- The state of the revocation at the provider. The secrets are kept until it ends.
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
-- One live connection per person, connector and label; expired ones do not count.
create unique index connections_live_key on connections (org_id, user_id, connector_slug, label)
  where deleted_at is null and status <> 'expired';
create index connections_by_creation on connections (org_id, user_id, created_at desc, id desc) where deleted_at is null;
create index connections_overdue on connections (pending_until) where status = 'pending';
-- Finds the orgs that have an account of a provider, for events that name only the account.
create index connections_by_account on connections (connector_slug, account_id) where status = 'active';

-- One row per authorization URL that was issued, deleted when it is used.
create table oauth_states (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  user_id uuid not null,
  -- SHA-256 of the state, so that a copy of the database cannot complete a flow.
  state_hash bytea not null,
  -- The PKCE verifier, encrypted.
  verifier text not null,
  redirect_uri text not null,
  expires_at timestamptz not null,
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id)
);
create unique index oauth_states_hash_key on oauth_states (state_hash);
create index oauth_states_by_connection on oauth_states (org_id, connection_id);
create index oauth_states_expired on oauth_states (expires_at);

create table connector_endpoints (
  org_id uuid not null,
  id uuid not null,
  provider text not null,
  connection_id uuid not null,
  -- Turns act for the owner of the connection, in the agent's workspace.
  user_id uuid not null references users (id),
  workspace_id uuid not null,
  -- Null: events are recorded and not answered.
  agent_id uuid,
  -- pending: setup has not ended. closed: replaced by another endpoint of the connection; events accepted before are
  -- still answered.
  status text not null check (status in ('pending', 'active', 'closed')),
  -- The URL as registered at the provider. Some providers sign it.
  url text not null,
  -- The secret that verifies the provider's requests, encrypted. Null for a public key or a Google ID token.
  secret text,
  -- Not secret: a public key, the sender's address, the provider's ids.
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id),
  foreign key (org_id, workspace_id) references workspaces (org_id, id),
  foreign key (org_id, agent_id) references agents (org_id, id)
);
-- The public URL names the endpoint only, not the org.
create unique index connector_endpoints_id_key on connector_endpoints (id);
create index connector_endpoints_by_connection on connector_endpoints (org_id, connection_id);

-- A conversation at the provider, and the session that represents it.
create table connector_chats (
  org_id uuid not null,
  endpoint_id uuid not null,
  -- The provider's id of the conversation.
  chat text not null,
  session_id uuid,
  -- How many of its messages the agent has received.
  place integer not null default 0,
  -- Only the worker with the lease sends answers to this chat.
  lease_token uuid,
  lease_until timestamptz,
  primary key (org_id, endpoint_id, chat),
  foreign key (org_id, endpoint_id) references connector_endpoints (org_id, id) on delete cascade
);

create table connector_events (
  org_id uuid not null,
  endpoint_id uuid not null,
  -- The provider's id of the event, or the hash of its body.
  external_id text not null,
  -- A second key against duplicates, for a day: the hash of the body when the id is not signed, or the message when a
  -- provider sends two events for it.
  second_id text,
  seq bigint not null generated always as identity,
  type text not null,
  received_at timestamptz not null default now(),
  -- recorded: nothing to do. waiting: its turn has not begun. running: until its answer is sent. silent: ended without
  -- an answer. unknown: a worker died while it sent the answer, and the provider cannot be asked.
  state text not null
    check (state in ('recorded', 'waiting', 'running', 'answered', 'silent', 'failed', 'unknown')),
  chat text,
  -- The order within the chat, when the provider numbers its messages.
  position bigint,
  sender text,
  -- The title of a session that begins with this event.
  title text,
  -- Kept until it is in the session.
  message text,
  -- Where to send the answer, encrypted, because some providers include a token. Kept until the answer is sent.
  reply_to text,
  -- Its place among the chat's messages that the agent received.
  place integer,
  turn_id uuid,
  -- Parts of the answer that are sent, and whether the next one is being sent.
  parts_sent integer not null default 0,
  is_sending boolean not null default false,
  send_attempts integer not null default 0,
  -- The time of the next attempt to send.
  send_after timestamptz,
  error text,
  primary key (org_id, endpoint_id, external_id),
  foreign key (org_id, endpoint_id) references connector_endpoints (org_id, id) on delete cascade
);
create unique index connector_events_second_key on connector_events (org_id, endpoint_id, second_id)
  where second_id is not null;
create index connector_events_open on connector_events (org_id, endpoint_id, chat)
  where state in ('waiting', 'running');
create index connector_events_by_turn on connector_events (org_id, turn_id) where turn_id is not null;
create index connector_events_by_arrival on connector_events (org_id, endpoint_id, seq);
-- Rows are stored in order of age.
create index connector_events_by_age on connector_events using brin (received_at);

-- Which org receives a Linear organization's events at POST /webhooks/linear: the org in which an administrator of that
-- organization bound it.
create table linear_bindings (
  org_id uuid not null references orgs (id),
  id uuid not null,
  -- Linear's id, which its events carry, and its name when it was bound.
  organization_id text not null check (char_length(organization_id) between 1 and 200),
  organization_name text not null check (char_length(organization_name) <= 200),
  -- The connection whose token proved administration. The binding ends with it.
  connection_id uuid not null,
  bound_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id)
);
-- An organization's events have one recipient, even when several orgs have connections to it.
create unique index linear_bindings_organization_key on linear_bindings (organization_id);
create index linear_bindings_connection on linear_bindings (org_id, connection_id);
