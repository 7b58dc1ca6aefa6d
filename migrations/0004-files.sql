-- Files, folders and links are rows of one table. Their bytes are blobs, stored once per org by their SHA-256.

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
  -- The person who wrote the current instructions; null when unknown.
  instructions_by uuid,
  primary key (org_id, id)
);
create unique index projects_slug_key on projects (org_id, slug) where deleted_at is null;

-- An object in the object store, under the key <org_id>/<id>.
create table blobs (
  org_id uuid not null references orgs (id),
  id uuid not null,
  -- writing: inserted before the first byte is stored, so that a crash leaves no unknown object behind.
  -- live: complete, shared by all files of the org with these bytes.
  -- condemned: no file uses it and none will; the object is deleted first, then this row.
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
  -- The name as lists sort it and searches read it: lower case, NFC. The application computes it and it is compared byte
  -- by byte, so that neither a server's locale nor an ICU update changes the order of an index.
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
  -- The parent folder, never null: the org's id stands for the root folder.
  container_id uuid not null generated always as (coalesce(parent_id, org_id)) stored,
  -- Folders come first in every list.
  listing_rank smallint not null generated always as (case source when 'folder' then 0 else 1 end) stored,
  -- The bytes came from an agent that had read untrusted content, or by a signed upload URL, which does not identify
  -- who used it.
  is_untrusted boolean not null default false,
  -- Who gave the current name, when that is not created_by: agents read names.
  named_by uuid,
  primary key (org_id, id),
  foreign key (org_id, parent_id) references files (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id),
  foreign key (org_id, blob_id) references blobs (org_id, id),
  check (source = 'upload' or (mime_type is null and size_bytes = 0 and blob_id is null and status = 'ready')),
  check ((source = 'link') = (target_id is not null)),
  check (source <> 'upload' or status = 'pending' or deleted_at is not null or blob_id is not null)
);
-- Deferred, because a project and its folder refer to each other and are inserted in one transaction.
alter table projects add foreign key (org_id, folder_id) references files (org_id, id) deferrable initially deferred;

-- One index serves every list. It stores the order, so a page costs the same in a folder of ten files and of a million.
create index files_listing on files (org_id, container_id, listing_rank, name_key, id) where deleted_at is null;
-- Includes deleted files: the foreign key check reads it before a blob is deleted, and would scan the table otherwise.
create index files_by_blob on files (org_id, blob_id) where blob_id is not null;
create index files_unreleased on files (org_id, blob_id) where deleted_at is not null and blob_id is not null;
create index files_pending on files (created_at) where status = 'pending' and deleted_at is null;

-- How many live children a folder has; the org's id stands for the root folder. Each folder has sixteen rows and each
-- backend adds to its own, so that uploads into one folder do not wait for one row lock. The sum is exact in every
-- snapshot.
create table folder_counts (
  org_id uuid not null references orgs (id),
  folder_id uuid not null,
  slot smallint not null,
  children integer not null,
  primary key (org_id, folder_id, slot)
) with (fillfactor = 50);

-- Searching names by any part needs trigrams. Both extensions come with PostgreSQL and are trusted, so the owner of the
-- database may install them. Where a managed server does not offer them, search works but reads all names of the org.
do $$
begin
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
  -- With a pending list of 256 kB, merging it delays an insert by at most 36 ms among a million files; with the default
  -- of 4 MB, by 450 ms.
  create index files_search on files using gin (org_id, name_key gin_trgm_ops) with (gin_pending_list_limit = 256)
    where deleted_at is null;
exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
  raise warning 'searching for file names will be slow in large orgs: %', sqlerrm;
end
$$;

-- Previews are kept by the bytes that they show and are deleted with them. Parsing an office file again would take a
-- process up to ten seconds.
create table previews (
  org_id uuid not null,
  blob_id uuid not null,
  -- How the bytes were parsed: the same bytes may be stored under two types.
  format text not null,
  -- The version of the previewer. A preview by an older version is made again.
  version smallint not null,
  -- JSON, compressed by Zstandard; null when the file cannot be previewed, for the reason in `refusal`.
  payload bytea,
  refusal text,
  created_at timestamptz not null default now(),
  primary key (org_id, blob_id, format),
  foreign key (org_id, blob_id) references blobs (org_id, id) on delete cascade,
  check ((payload is null) = (refusal is not null))
);
create index previews_by_age on previews (org_id, created_at);
-- The payload is compressed already. CREATE TABLE has no such option before PostgreSQL 16.
alter table previews alter column payload set storage external;
