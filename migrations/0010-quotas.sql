-- Quotas of an org: what it stores, counted in the transactions that change it, and limits that differ from its plan's.

-- Live files (folders and links included) and the sum of their sizes. Up to 64 rows per org; each backend adds to the row
-- of its process id, so that uploads of one org do not wait for one row lock. The sum is exact in every snapshot. A
-- transaction locks this row after all rows of folder_counts, which prevents deadlocks.
create table org_file_usage (
  org_id uuid not null references orgs (id),
  slot smallint not null,
  files bigint not null,
  stored_bytes bigint not null,
  primary key (org_id, slot)
) with (fillfactor = 50);

-- Events kept, by the day (UTC) in their ids. Retention drops a day's partition and the day's counts together.
create table org_event_usage (
  org_id uuid not null references orgs (id),
  day date not null,
  slot smallint not null,
  events bigint not null,
  primary key (org_id, day, slot)
) with (fillfactor = 50);

-- Limits that an operator set for one org. They take precedence over the plan's. Null: unlimited.
create table org_quotas (
  org_id uuid not null references orgs (id),
  name text not null check (name in ('storedBytes', 'files', 'eventsKept', 'webhooks', 'agents', 'connections')),
  value bigint check (value >= 0),
  updated_at timestamptz not null default now(),
  primary key (org_id, name)
);

-- When a quota last rejected a request, and when the audit log last recorded that.
create table org_quota_refusals (
  org_id uuid not null references orgs (id),
  name text not null,
  refused_at timestamptz not null,
  audited_at timestamptz not null,
  primary key (org_id, name)
);

-- The day (UTC) of a UUIDv7.
create function uuid_day(id uuid) returns date language sql immutable parallel safe as $$
  select (to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) at time zone 'UTC')::date
$$;
