-- Folders that only some people of an org may see.

-- A folder that is open to its grants and to the owners of the org only. It keeps its row in the trash.
create table restricted_folders (
  org_id uuid not null,
  folder_id uuid not null,
  restricted_by uuid not null,
  created_at timestamptz not null default now(),
  primary key (org_id, folder_id),
  foreign key (org_id, folder_id) references files (org_id, id)
);

-- Whom a restricted folder is open to: a person, the members of a workspace, or all members with a role.
create table folder_grants (
  org_id uuid not null,
  folder_id uuid not null,
  id uuid not null,
  user_id uuid,
  workspace_id uuid,
  role text check (role in ('admin', 'billing_manager', 'member')),
  access text not null check (access in ('read', 'write')),
  granted_by uuid not null,
  created_at timestamptz not null default now(),
  primary key (org_id, folder_id, id),
  unique nulls not distinct (org_id, folder_id, user_id, workspace_id, role),
  check (num_nonnulls(user_id, workspace_id, role) = 1),
  foreign key (org_id, folder_id) references restricted_folders (org_id, folder_id) on delete cascade,
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade
);
create index folder_grants_by_user on folder_grants (org_id, user_id) where user_id is not null;
create index folder_grants_by_workspace on folder_grants (org_id, workspace_id) where workspace_id is not null;
create index folder_grants_by_role on folder_grants (org_id, role) where role is not null;

-- The restricted folders that contain the row, outermost first, with the row itself; null without one. A reader needs
-- access to all of them. Null for every existing row, so the table is not rewritten.
alter table files add column guards uuid[];
-- The guards that a file had when it was shared: a share does not open what was restricted later.
alter table file_shares add column guards uuid[];
