-- Tables of the infrastructure in src/platform.

-- One row per Idempotency-Key in use. A request inserts `running` before its work; the work's own transaction changes it
-- to `committed`, so that a crash cannot hide that the work was done; `done` holds the response to repeat.
create table idempotency_keys (
  org_id uuid not null references orgs (id),
  user_id uuid not null,
  method text not null,
  route text not null,
  key text not null,
  -- Null until the body of a streamed request has been read.
  fingerprint bytea,
  state text not null check (state in ('running', 'committed', 'done')),
  claim uuid not null unique,
  claimed_until timestamptz not null,
  status smallint,
  headers jsonb,
  body text,
  created_at timestamptz not null default now(),
  primary key (org_id, user_id, method, route, key),
  check ((state = 'done') = (status is not null and headers is not null and body is not null))
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- One row per encryption key that this database uses, with a known text encrypted under it. The server checks them at
-- its start, before it reads or writes anything with wrong keys.
create table encryption_checks (
  key_id text primary key,
  sealed text not null,
  created_at timestamptz not null default now()
);
