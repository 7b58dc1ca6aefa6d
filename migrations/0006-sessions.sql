-- Sessions and the turns of their agents. A turn's row is the only record of its state: its lease, its progress and its
-- outcome. A job only says that the turn has work to do.

create table sessions (
  org_id uuid not null references orgs (id),
  id uuid not null,
  workspace_id uuid not null,
  project_id uuid,
  agent_id uuid not null,
  title text,
  -- The kind of the other participant. Set by the server only.
  relationship text not null default 'user' check (relationship in ('user', 'peer', 'connector')),
  metadata jsonb not null default '{}',
  status text not null default 'idle' check (status in ('idle', 'running', 'requires_action')),
  -- The turn that runs or waits for a person. Queued turns have no job yet; ending this turn enqueues the next one.
  active_turn_id uuid,
  turn_count integer not null default 0,
  message_count integer not null default 0,
  last_message_at timestamptz,
  created_by uuid not null,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Of a session between two agents: their ids and for whom they work. Null when no further message may continue it.
  peer_key text,
  -- Of a session between two agents that work for a chat of a provider: the session of that chat. Null when they work
  -- for a person.
  peer_chat_id uuid,
  primary key (org_id, id),
  foreign key (org_id, workspace_id) references workspaces (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id),
  foreign key (org_id, agent_id) references agents (org_id, id)
);
create index sessions_by_update on sessions (org_id, workspace_id, updated_at desc, id desc) where deleted_at is null;
create unique index sessions_peer_key on sessions (org_id, workspace_id, peer_key)
  where peer_key is not null and deleted_at is null;

create table session_participants (
  org_id uuid not null,
  session_id uuid not null,
  kind text not null check (kind in ('agent', 'user')),
  participant_id uuid not null,
  joined_at timestamptz not null default now(),
  -- A copy of the session's, kept by the trigger below, so that an index lists the sessions of one agent by last change.
  updated_at timestamptz not null default now(),
  primary key (org_id, session_id, kind, participant_id),
  foreign key (org_id, session_id) references sessions (org_id, id)
);
create index session_participants_by_update on session_participants (org_id, participant_id, updated_at desc, session_id desc);

create function session_touched() returns trigger language plpgsql as $$
begin
  update session_participants set updated_at = new.updated_at
  where org_id = new.org_id and session_id = new.id and kind = 'agent';
  return null;
end
$$;
create trigger sessions_touch after update of updated_at on sessions
  for each row when (old.updated_at is distinct from new.updated_at) execute function session_touched();

create table turns (
  org_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  -- The place of the turn in its session, from 1.
  number integer not null,
  agent_id uuid not null,
  -- The agent's name and avatar at that time: the author of the reply.
  author jsonb not null,
  -- The user with whose authority the turn acts, narrowed to the scopes of the key that created it.
  user_id uuid not null,
  scopes text[] not null,
  -- Model and prices are fixed when the turn is created, so that a later change does not affect its cost.
  model text not null,
  pricing jsonb not null,
  max_steps integer not null,
  max_cost_cents integer,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'requires_action', 'completed', 'failed', 'cancelled', 'incomplete')),
  stop_reason text,
  error jsonb,
  reply_id uuid not null,
  -- Every write of a worker names this token. A worker that takes the turn over, or whoever ends it, replaces it.
  lease_token uuid,
  lease_until timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  -- Counts against the time limit; waiting for a person does not.
  worked_ms bigint not null default 0,
  -- What the caller adds to the agent's own instructions, for this turn.
  instructions text,
  -- The caller's limit for the output of each model call, when it is lower than the model's.
  max_output_tokens integer,
  -- A digest by which callers that know no id of ours find the turn again: of the conversation that they sent, or of
  -- their request id.
  caller_digest bytea,
  -- The first turn of a chain of messages between agents, begun by a person; null for that turn itself.
  chain_id uuid,
  -- The number of messages between the first turn of the chain and this one.
  hop integer not null default 0,
  -- The turn whose agent sent the message, and the tool call that sent it. When the call runs again, it finds this turn
  -- instead of creating another one.
  parent_turn_id uuid,
  parent_call text,
  -- Exchanges at the start of the conversation that were left out because they exceeded the model's context.
  left_out_exchanges integer not null default 0,
  -- The key that created the turn, null for a person in the console. The turn ends when the key is revoked or expires.
  api_key_id uuid,
  -- When the last worker took the turn. If that worker dies, its working time counts from here.
  claimed_at timestamptz,
  -- The value of `attempts` when the turn last waited for a person. Attempts before that say nothing about crashes.
  rested_attempts integer not null default 0,
  -- The number of the stream's last frame at the last checkpoint. Frames are deleted after a day.
  last_seq integer not null default 0,
  -- The platform's fee is part of the turn's price and is fixed with it.
  fee_bps integer not null default 0,
  fee_waiver_cents bigint not null default 0,
  -- The org's own key at the model's provider, when the turn uses one.
  provider_key_id uuid,
  -- How many workers died while they held the lease, since the turn last waited for a person. A worker that releases
  -- the turn, or loses its lease and lives on, is not counted.
  worker_deaths integer not null default 0,
  -- Where the first untrusted content that this turn read came from; null when it read none. Later turns of the session
  -- are shown what earlier turns read, so they inherit it.
  untrusted_from text,
  primary key (org_id, id),
  unique (org_id, session_id, number),
  foreign key (org_id, session_id) references sessions (org_id, id)
);
-- At most one active turn per session, even if the code has a bug.
create unique index turns_active_key on turns (org_id, session_id) where status in ('running', 'requires_action');
create index turns_waiting on turns (org_id, session_id, number) where status = 'queued';
-- Few rows of a table that only grows: the turns that may need a worker.
create index turns_under_way on turns (org_id, id) where status in ('queued', 'running');
create index turns_by_caller_digest on turns (org_id, caller_digest) where caller_digest is not null;
create unique index turns_parent_call_key on turns (org_id, parent_call) where parent_call is not null;
create index turns_by_parent on turns (org_id, parent_turn_id) where parent_turn_id is not null;
create index turns_by_chain on turns (org_id, chain_id) where chain_id is not null;
-- Every turn that starts looks up one row per session here.
create index turns_untrusted on turns (org_id, session_id, number) where untrusted_from is not null;

-- Limits that the turns of a chain share, so that agents gain no steps, money or time by writing to one another. Inserted
-- with the chain's first message, under the id of its first turn.
create table peer_chains (
  org_id uuid not null,
  id uuid not null,
  messages integer not null,
  -- Model calls by all turns of the chain.
  steps integer not null,
  max_steps integer not null,
  max_cost_cents integer,
  -- The end of the first turn's time limit.
  deadline timestamptz not null,
  primary key (org_id, id),
  foreign key (org_id, id) references turns (org_id, id)
);

create table messages (
  org_id uuid not null,
  session_id uuid not null,
  -- The place in the session, from 1.
  position integer not null,
  id uuid not null,
  turn_id uuid not null,
  turn_number integer not null,
  role text not null check (role in ('user', 'assistant')),
  -- The author's name and avatar at that time.
  author jsonb not null,
  parts jsonb not null,
  created_at timestamptz not null default now(),
  primary key (org_id, session_id, position),
  foreign key (org_id, session_id) references sessions (org_id, id)
);
create unique index messages_id_key on messages (org_id, id);
-- The order in which an agent reads them: the message of a queued turn comes after the reply of the turn before it.
create index messages_by_turn on messages (org_id, session_id, turn_number desc, position desc);

-- One row per model call, inserted before the call, so that a call that a crash interrupted is known and charged.
create table turn_steps (
  org_id uuid not null,
  turn_id uuid not null,
  step integer not null,
  attempt integer not null,
  status text not null default 'running' check (status in ('running', 'completed', 'failed', 'lost', 'cancelled')),
  finish_reason text,
  parts jsonb not null default '[]',
  input_tokens integer not null,
  output_tokens integer not null default 0,
  cache_read_tokens integer not null default 0,
  cache_write_tokens integer not null default 0,
  -- The provider reported no usage; the tokens are counted from the text.
  is_estimate boolean not null default true,
  cost_microcents bigint not null default 0,
  error jsonb,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (org_id, turn_id, step, attempt),
  foreign key (org_id, turn_id) references turns (org_id, id)
);

-- One row per tool call, `started` before the tool runs. After a crash `done` and `failed` are reused. `started` means
-- that the outcome is unknown: a read-only tool runs again, for any other tool a person is asked.
create table tool_calls (
  org_id uuid not null,
  turn_id uuid not null,
  step integer not null,
  place integer not null,
  call_id text not null,
  tool_name text not null,
  input jsonb not null,
  status text not null
    check (status in ('waiting', 'started', 'done', 'failed', 'unknown', 'denied', 'cancelled')),
  output jsonb,
  attempts integer not null default 0,
  -- The request for approval and the person's decision.
  approval_id uuid,
  approved boolean,
  started_at timestamptz,
  ended_at timestamptz,
  -- Why approval is needed, who changed the agent, and which permission the decision requires.
  question jsonb,
  primary key (org_id, turn_id, step, place),
  foreign key (org_id, turn_id) references turns (org_id, id)
);

-- Chunks of a turn's event stream: JSON frames, one per line. `seq` is the number of the chunk's last frame.
create table turn_events (
  org_id uuid not null,
  turn_id uuid not null,
  seq integer not null,
  frames text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, turn_id, seq)
);
create index turn_events_by_age on turn_events (created_at);
