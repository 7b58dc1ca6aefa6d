-- Personas that run against a model. One of each org is its default agent: it belongs to no workspace and is seen in all.

create table agents (
  org_id uuid not null references orgs (id),
  id uuid not null,
  workspace_id uuid,
  name text not null check (char_length(name) between 1 and 255),
  -- Compared byte by byte, so that the search for free numbers ("helper-2", "helper-3") can use the index below.
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
  primary key (org_id, id),
  foreign key (org_id, workspace_id) references workspaces (org_id, id),
  check (is_default = (workspace_id is null)),
  check (not is_default or (is_active and deleted_at is null))
);
create unique index agents_slug_key on agents (org_id, slug) where deleted_at is null;
create unique index agents_default_key on agents (org_id) where is_default;
create index agents_by_update on agents (org_id, workspace_id, updated_at desc, id desc) where deleted_at is null;
-- Whose lists name a slug, when that slug changes.
create index agents_by_peer on agents using gin (allowed_peers) where deleted_at is null;
