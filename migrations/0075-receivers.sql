-- Where providers send their events, the events that came, and the chats that agents answer in.

create table connector_endpoints (
  org_id uuid not null,
  id uuid not null,
  provider text not null,
  connection_id uuid not null,
  -- In whose name turns run: the owner of the connection, in the workspace of the agent.
  user_id uuid not null references users (id),
  workspace_id uuid not null,
  -- Null: events are recorded, and nobody answers.
  agent_id uuid,
  -- pending: being set up. closed: another one of the connection has taken its place; what it took is still answered.
  status text not null check (status in ('pending', 'active', 'closed')),
  -- As the provider was given it. Some providers sign it.
  url text not null,
  -- What the provider proves itself by, sealed. Null where that is a public key or a token of Google's.
  secret text,
  -- Nothing secret: a public key, the sender's address, what the provider calls its side of this.
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id),
  foreign key (org_id, workspace_id) references workspaces (org_id, id),
  foreign key (org_id, agent_id) references agents (org_id, id)
);
-- The public path names the endpoint and nothing else.
create unique index connector_endpoints_id_key on connector_endpoints (id);
create index connector_endpoints_by_connection on connector_endpoints (org_id, connection_id);

-- A conversation at the provider, and the session that it is here.
create table connector_chats (
  org_id uuid not null,
  endpoint_id uuid not null,
  -- The provider's name for it.
  chat text not null,
  session_id uuid,
  -- How many of its messages have been given to the agent.
  place integer not null default 0,
  -- Who has it sends answers to this chat. Nobody else does.
  lease_token uuid,
  lease_until timestamptz,
  primary key (org_id, endpoint_id, chat),
  foreign key (org_id, endpoint_id) references connector_endpoints (org_id, id) on delete cascade
);

create table connector_events (
  org_id uuid not null,
  endpoint_id uuid not null,
  -- The provider's id for it, or the hash of its body.
  external_id text not null,
  -- Told apart by this as well, for a day: the hash of the body where the id is not signed, the message where a
  -- provider tells of it twice.
  second_id text,
  seq bigint not null generated always as identity,
  type text not null,
  received_at timestamptz not null default now(),
  -- recorded: nothing to do. waiting: for its turn to begin. running: until its answer is sent. silent: ended without
  -- one. unknown: a worker was killed while it sent, and the provider cannot be asked.
  state text not null
    check (state in ('recorded', 'waiting', 'running', 'answered', 'silent', 'failed', 'unknown')),
  chat text,
  -- The order in which the chat had it, where the provider numbers its messages.
  position bigint,
  sender text,
  -- What a session that begins with it is called.
  title text,
  -- Until it is in the session.
  message text,
  -- Where the answer goes, sealed: some providers put a token into it. Until the answer is sent.
  reply_to text,
  -- Its place among the messages of the chat that were given to the agent.
  place integer,
  turn_id uuid,
  -- Parts of the answer that are sent, and whether the next one is on its way.
  parts_sent integer not null default 0,
  is_sending boolean not null default false,
  send_attempts integer not null default 0,
  -- When the provider may be tried again.
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
-- Rows lie in the order of their age.
create index connector_events_by_age on connector_events using brin (received_at);
