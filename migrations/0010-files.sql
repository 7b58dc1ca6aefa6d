-- Files, folders and links are rows of one table; their bytes are blobs, stored once an org by their SHA-256.

create table projects (
  org_id uuid not null references orgs (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 255),
  slug text not null,
  description text,
  instructions text,
  folder_id uuid not null,
  created_by uuid not null,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (org_id, id)
);
create unique index projects_slug_key on projects (org_id, slug) where deleted_at is null;

-- An object in the store, under the key <org_id>/<id>. `writing`: registered before its first byte, so that a crash
-- leaves nothing that nobody knows of. `live`: complete, shared by every file of the org with these bytes.
-- `condemned`: no file uses it and none ever will again; the object goes first, then the row.
create table blobs (
  org_id uuid not null references orgs (id),
  id uuid not null,
  state text not null check (state in ('writing', 'live', 'condemned')),
  sha256 bytea,
  size_bytes integer,
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  check (state <> 'live' or (sha256 is not null and size_bytes is not null))
);
create unique index blobs_sha256_key on blobs (org_id, sha256) where state = 'live';
create index blobs_unsettled on blobs (org_id, created_at) where state <> 'live';

create table files (
  org_id uuid not null references orgs (id),
  id uuid not null,
  source text not null check (source in ('upload', 'folder', 'link')),
  parent_id uuid,
  project_id uuid,
  name text not null check (char_length(name) between 1 and 255),
  -- The name as lists sort it and searches read it: lower case, composed. Made by the application and compared byte
  -- by byte, so that no locale of a server and no update of its libraries ever changes what an index is sorted by.
  name_key text collate "C" not null,
  mime_type text,
  size_bytes integer not null default 0 check (size_bytes between 0 and 104857600),
  status text not null default 'ready' check (status in ('pending', 'ready')),
  blob_id uuid,
  sha256 bytea,
  target_id uuid,
  tags text[] not null default '{}',
  is_protected boolean not null default false,
  created_by uuid not null,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Where it lies, without a null: the org itself is the root folder.
  container_id uuid not null generated always as (coalesce(parent_id, org_id)) stored,
  -- Folders come first in every list.
  listing_rank smallint not null generated always as (case source when 'folder' then 0 else 1 end) stored,
  primary key (org_id, id),
  foreign key (org_id, parent_id) references files (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id),
  foreign key (org_id, blob_id) references blobs (org_id, id),
  check (source = 'upload' or (mime_type is null and size_bytes = 0 and blob_id is null and status = 'ready')),
  check ((source = 'link') = (target_id is not null)),
  check (source <> 'upload' or status = 'pending' or deleted_at is not null or blob_id is not null)
);
alter table projects add foreign key (org_id, folder_id) references files (org_id, id) deferrable initially deferred;

-- One index serves every list: the order is stored, so that the first page of a folder of a million costs what that
-- of ten does, and so does any page by cursor.
create index files_listing on files (org_id, container_id, listing_rank, name_key, id) where deleted_at is null;
-- Of deleted files, too: the foreign key looks here before a blob is deleted, and would read the whole table without.
create index files_by_blob on files (org_id, blob_id) where blob_id is not null;
create index files_unreleased on files (org_id, blob_id) where deleted_at is not null and blob_id is not null;
create index files_pending on files (created_at) where status = 'pending' and deleted_at is null;

-- How many live children a folder has (the org's id: the root). Sixteen rows a folder, each backend adding to its
-- own, so that uploads into one folder do not queue for one row; the sum is exact in every snapshot.
create table folder_counts (
  org_id uuid not null references orgs (id),
  folder_id uuid not null,
  slot smallint not null,
  children integer not null,
  primary key (org_id, folder_id, slot)
) with (fillfactor = 50);

-- Search by any part of a name needs trigrams. Both modules come with PostgreSQL, and a role without special rights
-- may install them; where a managed server does not offer them, search still works and reads the org's names.
do $$
begin
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
  -- Entries gather before they are sorted in. In lists of 256 kB that holds up an insert for 36 ms at most, among a
  -- million files; in lists of the usual 4 MB for 450.
  create index files_search on files using gin (org_id, name_key gin_trgm_ops) with (gin_pending_list_limit = 256)
    where deleted_at is null;
exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
  raise warning 'searching for file names will be slow in large orgs: %', sqlerrm;
end
$$;
