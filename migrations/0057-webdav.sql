-- WebDAV: locks and properties that clients set.

-- A write lock (RFC 4918, section 6). Its id is the token.
create table webdav_locks (
  org_id uuid not null,
  id uuid not null,
  -- The file or folder; the id of the org for its root folder.
  file_id uuid not null,
  is_shared boolean not null,
  -- Depth: infinity; it locks everything in the folder.
  is_deep boolean not null,
  -- What the client says about its user, as XML.
  owner text not null check (length(owner) <= 2048),
  -- Only this person can use the token.
  created_by uuid not null,
  seconds integer not null,
  expires_at timestamptz not null,
  primary key (org_id, id)
);
create index webdav_locks_by_file on webdav_locks (org_id, file_id);
create index webdav_locks_by_expiry on webdav_locks (expires_at);

-- The properties of a file or folder that clients set: a list of { namespace, name, value }, where the value is XML. The
-- server bounds their size.
create table webdav_properties (
  org_id uuid not null,
  file_id uuid not null,
  properties jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (org_id, file_id),
  foreign key (org_id, file_id) references files (org_id, id)
);
