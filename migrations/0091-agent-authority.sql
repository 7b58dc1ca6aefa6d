-- With whose authority an agent uses a person's connections, and what its turns have read.

alter table agents
  -- The person who made the latest change of what decides how the agent acts: prompt, model, tools, connectors, peers,
  -- approvals. Null when that is not known, or when the server made the agent.
  add column authority_changed_by uuid,
  add column authority_changed_at timestamptz not null default now(),
  -- Goes up with each of these changes. A consent names the version that it was given for.
  add column authority_version integer not null default 1;
-- Who made earlier changes was not stored, so only an agent that never changed keeps its creator's authority.
update agents set authority_changed_by = case when revision = 1 then created_by end, authority_changed_at = updated_at;

-- A person lets an agent use their connections to one connector, as the agent is at this version.
create table agent_consents (
  org_id uuid not null,
  agent_id uuid not null,
  user_id uuid not null references users (id),
  connector_slug text not null,
  authority_version integer not null,
  -- Whether tools that change something ask for approval once a turn has read untrusted content.
  ask_after_untrusted boolean not null default true,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, agent_id, user_id, connector_slug),
  foreign key (org_id, agent_id) references agents (org_id, id)
);

-- Where the first untrusted content came from that this turn has read; null when it has read none. Later turns of the
-- session are shown what earlier ones read, so they inherit it.
alter table turns add column untrusted_from text;
-- One row for each session is looked for, by every turn that begins.
create index turns_untrusted on turns (org_id, session_id, number) where untrusted_from is not null;
-- What is known of the past: chats with strangers, messages of peers, results of the web, connectors and MCP servers.
update turns set untrusted_from = 'chat' from sessions s
where s.org_id = turns.org_id and s.id = turns.session_id and s.relationship = 'connector';
update turns set untrusted_from = read.tool_name
from (
  select org_id, turn_id, min(tool_name) as tool_name from tool_calls
  where (tool_name like '%\_\_%' or tool_name in ('web.fetch', 'message_peer', 'files.read')) and started_at is not null
  group by org_id, turn_id
) read
where read.org_id = turns.org_id and read.turn_id = turns.id and untrusted_from is null;

-- Why a person is asked about a call, who changed the agent and what permission the decision needs.
alter table tool_calls add column question jsonb;

-- The bytes came from an agent that had read untrusted content, or by an upload URL, which does not tell who uses it.
alter table files add column is_untrusted boolean not null default false;

alter table projects
  -- The person who wrote the instructions that there are now; null when that is not known.
  add column instructions_by uuid;
update projects set instructions_by = created_by where revision = 1;
