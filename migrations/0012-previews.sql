-- Previews that were made, kept by the bytes that they show: they go when the bytes go. Reading an office file again
-- costs a process and up to ten seconds of its time.
create table previews (
  org_id uuid not null,
  blob_id uuid not null,
  -- How the bytes were read: the same bytes may be stored as two types.
  format text not null,
  -- Of the program that read them; what an older one made is made anew.
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

-- It is compressed already.
alter table previews alter column payload set storage external;
