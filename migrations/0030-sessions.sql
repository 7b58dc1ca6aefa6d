-- Conversations and the turns that agents take in them. The turn's row is the truth about its work: who holds it, what
-- it has done, how it ended. A job only says that there is work on it.

create table sessions (
  org_id uuid not null references orgs (id),
  id uuid not null,
  workspace_id uuid not null,
  project_id uuid,
  agent_id uuid not null,
  title text,
  -- Whom the conversation is with. The server's own: no client sets it.
  relationship text not null default 'user' check (relationship in ('user', 'peer', 'connector')),
  metadata jsonb not null default '{}',
  status text not null default 'idle' check (status in ('idle', 'running', 'requires_action')),
  -- The turn whose move it is. Turns that wait for it have no job yet; whoever ends it hands on to the next.
  active_turn_id uuid,
  turn_count integer not null default 0,
  message_count integer not null default 0,
  last_message_at timestamptz,
  created_by uuid not null,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (org_id, id),
  foreign key (org_id, workspace_id) references workspaces (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id),
  foreign key (org_id, agent_id) references agents (org_id, id)
);
create index sessions_by_update on sessions (org_id, workspace_id, updated_at desc, id desc) where deleted_at is null;

create table session_participants (
  org_id uuid not null,
  session_id uuid not null,
  kind text not null check (kind in ('agent', 'user')),
  participant_id uuid not null,
  joined_at timestamptz not null default now(),
  -- The session's, kept by the trigger below: the sessions of one agent, last changed first, are one walk down an index.
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
  -- The agent by the name and looks of that day: the author of the reply.
  author jsonb not null,
  -- Whose authority it acts with: a user, narrowed to the scopes of the key that asked for it.
  user_id uuid not null,
  scopes text[] not null,
  -- As they were when the turn was asked for, so that its price does not change under it.
  model text not null,
  pricing jsonb not null,
  max_steps integer not null,
  max_cost_cents integer,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'requires_action', 'completed', 'failed', 'cancelled', 'incomplete')),
  stop_reason text,
  error jsonb,
  reply_id uuid not null,
  -- Every write of a worker names the token. Whoever takes the turn over, or ends it, changes it.
  lease_token uuid,
  lease_until timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  -- Time that counts against the limit: not that of waiting for a person.
  worked_ms bigint not null default 0,
  primary key (org_id, id),
  unique (org_id, session_id, number),
  foreign key (org_id, session_id) references sessions (org_id, id)
);
-- One turn of a session at a time, whatever the code believes.
create unique index turns_active_key on turns (org_id, session_id) where status in ('running', 'requires_action');
create index turns_waiting on turns (org_id, session_id, number) where status = 'queued';

create table messages (
  org_id uuid not null,
  session_id uuid not null,
  -- The place in the session, from 1.
  position integer not null,
  id uuid not null,
  turn_id uuid not null,
  turn_number integer not null,
  role text not null check (role in ('user', 'assistant')),
  -- Who wrote it, by the name and looks of that day.
  author jsonb not null,
  parts jsonb not null,
  created_at timestamptz not null default now(),
  primary key (org_id, session_id, position),
  foreign key (org_id, session_id) references sessions (org_id, id)
);
create unique index messages_id_key on messages (org_id, id);
-- In the order in which an agent reads them: a turn that waited comes after the reply that it waited for.
create index messages_by_turn on messages (org_id, session_id, turn_number desc, position desc);

-- One row for each call of a model, written before it is made: a call that a crash cut off was made, too.
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
  -- The provider did not tell; the tokens are counted from the text.
  is_estimate boolean not null default true,
  cost_microcents bigint not null default 0,
  error jsonb,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (org_id, turn_id, step, attempt),
  foreign key (org_id, turn_id) references turns (org_id, id)
);

-- One row for each tool call, `started` before the tool runs. After a crash `done` and `failed` are reused; `started`
-- means that nobody knows what happened: only a tool that changes nothing is run again, else a person is asked.
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
  -- Asked of a person, and what they said.
  approval_id uuid,
  approved boolean,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (org_id, turn_id, step, place),
  foreign key (org_id, turn_id) references turns (org_id, id)
);

-- What a turn's stream says, for whoever tails it: JSON frames, one a line; `seq` is the number of the last of them.
create table turn_events (
  org_id uuid not null,
  turn_id uuid not null,
  seq integer not null,
  frames text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, turn_id, seq)
);
create index turn_events_by_age on turn_events (created_at);
