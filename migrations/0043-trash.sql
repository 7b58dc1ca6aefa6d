-- The trash: deleted files keep their bytes until they are restored or purged.

-- A deletion whose file, or folder with its contents, is in the trash. Its files have this id as `trash_id`. A row whose
-- purge_at has passed is invisible to the API, and its files are purged in batches.
create table trash (
  org_id uuid not null,
  id uuid not null,
  -- What was deleted: a file, a link, or a folder with everything that was in it.
  file_id uuid not null,
  -- How deep the folder is nested, with itself; 0 for a file or link.
  levels smallint not null,
  deleted_by uuid not null,
  deleted_at timestamptz not null default now(),
  purge_at timestamptz not null,
  primary key (org_id, id)
);
create unique index trash_by_file on trash (org_id, file_id);
create index trash_by_purge on trash (purge_at);

-- Null for live files, and for deleted files that have left the trash.
alter table files add column trash_id uuid;
create index files_by_trash on files (org_id, trash_id) where trash_id is not null;

-- Servers of the previous version, which run beside this one during an update, do not know the trash and would delete the
-- bytes of its files. Two constraints make those statements of theirs fail: a file in the trash keeps its blob, and a blob
-- that no file uses is `unused`, no longer `condemned`. Their job is repeated until a server of this version runs it.
-- Not validated, because no row has a trash_id yet.
alter table files add constraint files_trash_check check (
  trash_id is null
  or (deleted_at is not null and (source <> 'upload' or status = 'pending' or blob_id is not null))) not valid;
alter table blobs drop constraint blobs_state_check;
update blobs set state = 'unused' where state = 'condemned';
alter table blobs add constraint blobs_state_check check (state in ('writing', 'live', 'unused'));

-- Without the files in the trash, over which every release of bytes would read.
create index files_released on files (org_id, blob_id)
  where deleted_at is not null and trash_id is null and blob_id is not null;
drop index files_unreleased;

-- The part of `files` and `stored_bytes` that is in the trash.
alter table org_file_usage add column trashed_files bigint not null default 0;
alter table org_file_usage add column trashed_bytes bigint not null default 0;
