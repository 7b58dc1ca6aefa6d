-- Resumable uploads, by the tus protocol.

create table uploads (
  org_id uuid not null,
  id uuid not null,
  created_by uuid not null,
  -- partial: one of several whose bytes are put together; it has no name, type and folder of its own.
  -- final: made of partial ones, and complete from its beginning.
  kind text not null check (kind in ('whole', 'partial', 'final')),
  -- open: bytes are missing, or no file has them yet. complete: file_id has them. ended: it has expired, and only the row is
  -- left, so that the client is told so.
  state text not null default 'open' check (state in ('open', 'complete', 'ended')),
  -- The header Upload-Metadata as it was sent.
  metadata text,
  name text,
  mime_type text,
  parent_id uuid,
  size_bytes integer not null check (size_bytes >= 0),
  received_bytes integer not null default 0 check (received_bytes between 0 and size_bytes),
  file_id uuid,
  lease_token uuid,
  lease_until timestamptz,
  -- Another request waits for the lease.
  is_wanted boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Bytes that arrive extend expires_at, up to this time.
  ends_at timestamptz not null,
  primary key (org_id, id),
  check ((state = 'complete') = (file_id is not null)),
  check (kind = 'partial' or (name is not null and mime_type is not null))
) with (fillfactor = 70);
create index uploads_open on uploads (org_id) where state = 'open';
create index uploads_by_expiry on uploads (expires_at);

-- The received bytes of an open upload, each part in an object of its own.
create table upload_parts (
  org_id uuid not null,
  upload_id uuid not null,
  -- Of its first byte.
  start_byte integer not null,
  size_bytes integer not null,
  blob_id uuid not null,
  sha256 bytea not null,
  primary key (org_id, upload_id, start_byte),
  foreign key (org_id, upload_id) references uploads (org_id, id) on delete cascade
);

-- part: belongs to an open upload. Servers of the previous version do not touch such blobs.
alter table blobs drop constraint blobs_state_check;
alter table blobs add constraint blobs_state_check check (state in ('writing', 'live', 'unused', 'part')) not valid;

-- UPLOAD_MAX_BYTES decides; requests that send a whole file are limited to 104,857,600 bytes by the API. Not validated,
-- because the old constraint was stricter.
alter table files drop constraint files_size_bytes_check;
alter table files add constraint files_size_bytes_check check (size_bytes >= 0) not valid;
