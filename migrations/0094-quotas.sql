-- Quotas of an org: what it stores, counted in the transactions that change it, and the limits that differ from its plan.

-- Live files (folders and links included) and the sum of their sizes. Up to 64 rows an org, each backend adding to the
-- row of its process id, so that uploads of one org do not wait for one row; the sum is exact in every snapshot. A
-- transaction locks this row after every row of folder_counts, so that no two wait for each other.
create table org_file_usage (
  org_id uuid not null references orgs (id),
  slot smallint not null,
  files bigint not null,
  stored_bytes bigint not null,
  primary key (org_id, slot)
) with (fillfactor = 50);

-- Events kept, by the day (UTC) in their ids. Retention drops a day of events as one partition, and its counts with it.
create table org_event_usage (
  org_id uuid not null references orgs (id),
  day date not null,
  slot smallint not null,
  events bigint not null,
  primary key (org_id, day, slot)
) with (fillfactor = 50);

-- Limits that an operator set for one org, before those of its plan. Null: unlimited.
create table org_quotas (
  org_id uuid not null references orgs (id),
  name text not null check (name in ('storedBytes', 'files', 'eventsKept', 'webhooks', 'agents', 'connections')),
  value bigint check (value >= 0),
  updated_at timestamptz not null default now(),
  primary key (org_id, name)
);

-- When a request was last rejected because of a quota, and when the audit log last said so.
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

insert into org_file_usage (org_id, slot, files, stored_bytes)
select org_id, 0, count(*), coalesce(sum(size_bytes), 0) from files where deleted_at is null group by org_id;

-- Events of orgs that no longer exist cannot be: orgs are never deleted. The join keeps the foreign key true all the same.
insert into org_event_usage (org_id, day, slot, events)
select e.org_id, uuid_day(e.id), 0, count(*) from webhook_events e join orgs o on o.id = e.org_id
group by e.org_id, uuid_day(e.id);
