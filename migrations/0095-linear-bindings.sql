-- Which org receives the events of a Linear organization at POST /webhooks/linear: the one in which an administrator of
-- that organization has bound it. Connections that exist prove no administration, so nothing is bound by this migration.
create table linear_bindings (
  org_id uuid not null references orgs (id),
  id uuid not null,
  -- Linear's own id, which its events carry, and its name when it was bound.
  organization_id text not null check (char_length(organization_id) between 1 and 200),
  organization_name text not null check (char_length(organization_name) <= 200),
  -- By whose token administration was proved. The binding ends with it.
  connection_id uuid not null,
  bound_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id)
);
-- The events of an organization have one recipient, whichever orgs have connections to it.
create unique index linear_bindings_organization_key on linear_bindings (organization_id);
create index linear_bindings_connection on linear_bindings (org_id, connection_id);
