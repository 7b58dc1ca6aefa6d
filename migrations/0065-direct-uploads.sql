-- Uploads whose bytes clients send to the bucket and not to this server.

create table direct_uploads (
  org_id uuid not null,
  -- Pending until the upload is ready.
  file_id uuid not null,
  created_by uuid not null,
  -- The object, whose blob has the state `part` until its bytes are verified.
  blob_id uuid not null,
  -- The ID of the multipart upload in the store.
  store_id text not null,
  size_bytes bigint not null check (size_bytes > 0),
  -- The last part can be smaller.
  part_bytes bigint not null check (part_bytes > 0),
  -- open: bytes are missing. verifying: all have arrived, and a job reads them. ready: the file has them.
  -- failed: they were not those that were declared, and are deleted with the file.
  state text not null default 'open' check (state in ('open', 'verifying', 'ready', 'failed')),
  -- Why it failed.
  error text,
  created_at timestamptz not null default now(),
  -- When an open upload is deleted with its file, and others are forgotten.
  expires_at timestamptz not null,
  -- Requests for URLs extend expires_at, up to this time.
  ends_at timestamptz not null,
  primary key (org_id, file_id)
);
create unique index direct_uploads_by_blob on direct_uploads (org_id, blob_id);
create index direct_uploads_unfinished on direct_uploads (org_id) where state in ('open', 'verifying', 'failed');
create index direct_uploads_by_expiry on direct_uploads (expires_at);

-- files_by_bytes of 0064 replaces it. Servers of the previous version sort a folder by size without an index until they
-- are updated.
drop index files_by_size;
