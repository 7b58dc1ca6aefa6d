-- One row for each Idempotency-Key in use. `running` is claimed before the work; the work's own transaction turns it
-- into `committed`, so a crash can never hide that the work was done; `done` carries the answer to repeat.
-- `fingerprint` is null until the body of a streamed request is known.
create table idempotency_keys (
  org_id uuid not null references orgs (id),
  user_id uuid not null,
  method text not null,
  route text not null,
  key text not null,
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
