-- Agents. Each org has one default agent, which belongs to no workspace and is visible in all of them.

create table agents (
  org_id uuid not null references orgs (id),
  id uuid not null,
  workspace_id uuid,
  name text not null check (char_length(name) between 1 and 255),
  -- Compared byte by byte, so that the search for a free number ("helper-2", "helper-3") can use agents_slug_key.
  slug text collate "C" not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 63),
  description text,
  avatar text not null,
  model text not null,
  system_prompt text,
  allowed_tools text[] not null default '{}',
  allowed_peers text[] not null default '{}',
  allowed_connectors text[] not null default '{}',
  is_active boolean not null default true,
  is_default boolean not null default false,
  settings jsonb not null,
  created_by uuid,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Who last changed what decides how the agent acts: prompt, model, tools, connectors, peers or approvals. Null when
  -- unknown, or when the server created the agent.
  authority_changed_by uuid,
  authority_changed_at timestamptz not null default now(),
  -- Incremented by each of these changes. A consent names the version that it was given for.
  authority_version integer not null default 1,
  primary key (org_id, id),
  foreign key (org_id, workspace_id) references workspaces (org_id, id),
  check (is_default = (workspace_id is null)),
  check (not is_default or (is_active and deleted_at is null))
);
create unique index agents_slug_key on agents (org_id, slug) where deleted_at is null;
create unique index agents_default_key on agents (org_id) where is_default;
create index agents_by_update on agents (org_id, workspace_id, updated_at desc, id desc) where deleted_at is null;
-- Finds the agents that allow a peer, when the peer's slug changes.
create index agents_by_peer on agents using gin (allowed_peers) where deleted_at is null;

-- A person's permission for an agent to use their connections to one connector, valid for one version of the agent.
create table agent_consents (
  org_id uuid not null,
  agent_id uuid not null,
  user_id uuid not null references users (id),
  connector_slug text not null,
  authority_version integer not null,
  -- Whether tools that change something need approval once a turn has read untrusted content.
  ask_after_untrusted boolean not null default true,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, agent_id, user_id, connector_slug),
  foreign key (org_id, agent_id) references agents (org_id, id)
);
