-- One row for each Idempotency-Key in use. `running` is claimed before the work; the work's own transaction turns it
-- into `committed`, so a crash can never hide that the work was done; `done` carries the answer to repeat.
create table idempotency_keys (
  org_id uuid not null references orgs (id),
  method text not null,
  route text not null,
  key text not null,
  fingerprint bytea,
  state text not null check (state in ('running', 'committed', 'done')),
  claim uuid not null,
  claimed_until timestamptz not null,
  status smallint,
  body text,
  created_at timestamptz not null default now(),
  primary key (org_id, method, route, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
