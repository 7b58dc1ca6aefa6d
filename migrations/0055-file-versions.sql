-- Versions: overwriting a file keeps the bytes that it had.

-- A former content of a file. The current one is in the row of the file, so that uploads write nothing here.
create table file_versions (
  org_id uuid not null,
  file_id uuid not null,
  -- Counts from 1 for each file, and is never used again.
  number integer not null,
  mime_type text not null,
  size_bytes integer not null,
  blob_id uuid not null,
  sha256 bytea not null,
  -- A version with a label is not deleted by age or number.
  label text check (char_length(label) between 1 and 255),
  created_by uuid not null,
  is_untrusted boolean not null,
  created_at timestamptz not null,
  -- When the next version was made.
  replaced_at timestamptz not null default now(),
  -- Deleted, alone or with its file. The row is deleted with its bytes, which other files may share.
  deleted_at timestamptz,
  primary key (org_id, file_id, number),
  foreign key (org_id, file_id) references files (org_id, id),
  foreign key (org_id, blob_id) references blobs (org_id, id)
);
-- Includes deleted versions: the foreign key check reads it before a blob is deleted.
create index file_versions_by_blob on file_versions (org_id, blob_id);
create index file_versions_released on file_versions (org_id, blob_id) where deleted_at is not null;
create index file_versions_by_age on file_versions (replaced_at) where deleted_at is null and label is null;

-- The number and label of the current version.
alter table files add column version integer not null default 1;
alter table files add column version_label text;
-- When and by whom the current bytes were uploaded, when those are not created_at and created_by.
alter table files add column content_at timestamptz;
alter table files add column content_by uuid;
-- The size of the former versions together, which counts towards the quotas like size_bytes.
alter table files add column versions_bytes bigint not null default 0;

-- How long versions of an org are kept, when not by the configuration. Null: by the configuration.
create table file_retention (
  org_id uuid primary key,
  versions_kept integer,
  versions_days integer
);

-- Servers of the previous version, which run beside this one during an update, do not know versions and would delete their
-- bytes. A blob that a version uses, or has used, has this mark, which makes that statement of theirs fail. Their job is
-- repeated until a server of this version runs it.
alter table blobs add column is_versioned boolean not null default false;
alter table blobs add constraint blobs_versioned_check check (not is_versioned or state <> 'unused') not valid;
