-- Links by which people without an account see, download or upload files.
create table file_shares (
  org_id uuid not null,
  id uuid not null,
  file_id uuid not null,
  -- SHA-256 of the token, which only the URL has.
  token_hash bytea not null,
  permission text not null check (permission in ('view', 'download', 'upload')),
  -- By scrypt, as passwords of people; null without one.
  password_hash text,
  expires_at timestamptz,
  max_downloads integer,
  downloads integer not null default 0,
  max_uploads integer,
  uploads integer not null default 0,
  max_file_bytes integer,
  -- Media types, or a kind such as `image/*`; null: all that can be stored.
  allowed_types text[],
  -- Attempts to enter the password since attempts_since.
  attempts integer not null default 0,
  attempts_since timestamptz not null default now(),
  created_by uuid not null,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_used_at timestamptz,
  primary key (org_id, id),
  foreign key (org_id, file_id) references files (org_id, id)
);
create unique index file_shares_by_token on file_shares (org_id, token_hash);
create index file_shares_by_file on file_shares (org_id, file_id, id);
-- For their expiry.
create index file_shares_by_expiry on file_shares (expires_at) where expires_at is not null;
