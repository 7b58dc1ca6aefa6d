-- Webhooks, the events that they received, and the deliveries that forward these events.

create table webhooks (
  org_id uuid not null references orgs (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 120),
  -- The destination URL; null: events are not forwarded.
  url text,
  source text not null check (char_length(source) between 1 and 100),
  description text check (char_length(description) <= 2000),
  events text[] not null default '{}',
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  -- Why the server disabled it.
  status_reason text,
  -- Encrypted rather than hashed, because signing needs the plain text.
  secret text not null,
  -- SHA-256, for the verification scheme in which the sender sends the secret itself.
  secret_hash bytea not null,
  public_key text,
  -- The name of a built-in webhook; each exists once per org.
  builtin text,
  delivery_count bigint not null default 0,
  last_delivery_at timestamptz,
  -- The first failed attempt since the last successful one.
  failing_since timestamptz,
  created_by uuid,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, id)
) with (fillfactor = 70);
-- The URL that receives events does not name the org.
create unique index webhooks_by_id on webhooks (id);
create unique index webhooks_builtin_key on webhooks (org_id, builtin) where builtin is not null;

-- Received events, byte for byte. Ids are UUIDv7, so a range of ids is a day, and retention drops whole days. There is no
-- foreign key to webhooks: the events of a deleted webhook, possibly millions, are hidden at once and removed by a job.
create table webhook_events (
  org_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  type text not null,
  external_id text,
  status text not null check (status in ('recorded', 'filtered')),
  headers jsonb not null,
  content_type text,
  body bytea not null,
  received_at timestamptz not null default now(),
  primary key (org_id, id)
) partition by range (id);
create index webhook_events_by_webhook on webhook_events (org_id, webhook_id, id);

-- Keys of received events, to reject duplicates. One table for all days, because a unique index cannot span partitions.
create table webhook_event_keys (
  org_id uuid not null,
  webhook_id uuid not null,
  key text not null,
  event_id uuid not null,
  seen_at timestamptz not null default now(),
  primary key (org_id, webhook_id, key)
);
-- Rows are inserted in order of time, so a BRIN index of a few pages finds the old ones.
create index webhook_event_keys_by_time on webhook_event_keys using brin (seen_at) with (pages_per_range = 32);

-- Deliveries that have not ended; this table stays small. `due_at` is when the next attempt may begin; while a worker
-- holds the lease (`lease_token`), it is when the lease expires.
create table webhook_queue (
  org_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  due_at timestamptz not null default now(),
  lease_token uuid,
  attempt_count smallint not null default 0,
  retried boolean not null default false,
  -- A person requested the next attempt.
  manual boolean not null default false,
  attempts jsonb not null default '[]',
  response jsonb,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Addresses single rows; see webhook_queue_by_number.
  number bigint generated always as identity,
  primary key (org_id, id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- Neither of these two shares a column with an index that seems as cheap while the table is empty: the planner would
-- choose the wrong one then and keep that plan under load.
create unique index webhook_queue_by_number on webhook_queue (number);
create index webhook_queue_by_turn on webhook_queue (webhook_id, retried, due_at);
create index webhook_queue_by_webhook on webhook_queue (org_id, webhook_id, id);

-- Deliveries that have ended, partitioned by day like the events.
create table webhook_deliveries (
  org_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  status text not null check (status in ('succeeded', 'failed')),
  url text,
  attempt_count smallint not null,
  attempts jsonb not null,
  response jsonb,
  error text,
  created_at timestamptz not null,
  updated_at timestamptz not null default now(),
  primary key (org_id, id)
) partition by range (id);
create index webhook_deliveries_by_webhook on webhook_deliveries (org_id, webhook_id, id);
create index webhook_deliveries_failed on webhook_deliveries (org_id, webhook_id, id) where status = 'failed';

-- The smallest UUIDv7 of a time.
create function uuid_at(moment timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Creates the missing partitions of these days (UTC). A partition is attached after it is complete, so that inserts do
-- not wait for it.
create function ensure_webhook_partitions(first_day date, last_day date) returns void language plpgsql as $$
declare
  parent text;
  part text;
  day date;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
  foreach parent in array array['webhook_events', 'webhook_deliveries'] loop
    for day in select generate_series(first_day, last_day, interval '1 day')::date loop
      part := parent || '_' || to_char(day, 'YYYYMMDD');
      continue when to_regclass(part) is not null;
      -- Rows up to 8 KB stay in one piece: compressing each event of 2 KB would cost more than it saves.
      execute format('create table %I (like %I including all) with (toast_tuple_target = 8160)', part, parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part,
        uuid_at(day::timestamp at time zone 'UTC'), uuid_at((day + 1)::timestamp at time zone 'UTC'));
    end loop;
  end loop;
end
$$;

-- Drops the partitions of all days before this day and returns how many. It waits at most 5 s for running queries; what
-- remains is dropped by the next run.
create function drop_webhook_partitions(before_day date) returns integer language plpgsql as $$
declare
  part regclass;
  dropped integer := 0;
begin
  set local lock_timeout = '5s';
  perform pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
  for part in
    select inhrelid::regclass from pg_inherits
    where inhparent in ('webhook_events'::regclass, 'webhook_deliveries'::regclass)
      and to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') < before_day
  loop
    execute format('drop table %s', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

select ensure_webhook_partitions((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + 7);
