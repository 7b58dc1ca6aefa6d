-- The audit log, the usage records and the events of connector endpoints are partitioned by month. Foreign keys to orgs
-- and endpoints are dropped: dropping a partition with a foreign key locks the referenced table against every reader.

-- At once: a transaction of a running server that has one of them and waits for another would be a deadlock.
lock table connector_endpoints, connector_events, usage_records, audit_log in access exclusive mode;

insert into partitioned_tables (name, unit, ahead) values
  ('audit_log', 'month', 2), ('usage_records', 'month', 2), ('connector_events', 'month', 2);

-- The audit log is partitioned by the time of the entry, by which it is listed: a page reads the newest partitions only.
-- `audit_log_by_seq` is no longer unique, because a unique index would have to contain the time. The sealer assigns a
-- place under the lock on the org's head, and the verification reports a place that occurs twice.
select set_aside('audit_log');
alter table audit_log_initial
  drop constraint audit_log_org_id_fkey,
  drop constraint audit_log_initial_pkey,
  add primary key (org_id, id, at);
drop index audit_log_initial_by_seq;
create table audit_log (
  like audit_log_initial including defaults including storage,
  constraint audit_log_pkey primary key (org_id, id, at)
) partition by range (at);
create index audit_log_by_time on audit_log (org_id, at desc, id desc);
create index audit_log_by_seq on audit_log (org_id, seq) where seq is not null;
create index audit_log_unsealed on audit_log (org_id, at, id) where seq is null;
select adopt_initial_partition('audit_log', 'at');

-- Usage records are partitioned by the turn, so that their primary key still prevents that a call is posted twice.
select set_aside('usage_records');
drop trigger usage_records_append_only on usage_records_initial;
drop trigger usage_records_keep on usage_records_initial;
create table usage_records (
  like usage_records_initial including defaults including storage,
  constraint usage_records_pkey primary key (org_id, turn_id, step, attempt)
) partition by range (turn_id);
select adopt_initial_partition('usage_records', 'turn_id');
create trigger usage_records_append_only before update or delete on usage_records
  for each row execute function refuse_ledger_change();
create trigger usage_records_keep before truncate on usage_records
  for each statement execute function refuse_ledger_change();

-- Sums of the records that retention removed, so that a ledger still adds up. Written when a partition is dropped.
create table usage_records_removed (
  org_id uuid not null,
  calls bigint not null,
  charged_microcents bigint not null,
  fee_microcents bigint not null,
  primary key (org_id)
);

-- The keys of events, to reject duplicates. One table for all months, because a unique index cannot span partitions.
-- `is_second`: the second key, which counts for a day only.
create table connector_event_keys (
  org_id uuid not null,
  endpoint_id uuid not null,
  key text not null,
  is_second boolean not null,
  seen_at timestamptz not null default now(),
  primary key (org_id, endpoint_id, key, is_second),
  foreign key (org_id, endpoint_id) references connector_endpoints (org_id, id) on delete cascade
);
create index connector_event_keys_by_time on connector_event_keys using brin (seen_at) with (pages_per_range = 32);
insert into connector_event_keys (org_id, endpoint_id, key, is_second, seen_at)
  select org_id, endpoint_id, external_id, false, received_at from connector_events order by received_at;
insert into connector_event_keys (org_id, endpoint_id, key, is_second, seen_at)
  select org_id, endpoint_id, second_id, true, received_at from connector_events where second_id is not null
  order by received_at;

-- The second key is only in the table of keys from now on, and the unique indexes are dropped. For servers of the previous
-- version, which write no keys, a trigger does it.
select set_aside('connector_events');
create sequence connector_events_seq as bigint;
select setval('connector_events_seq', coalesce((select max(seq) from connector_events_initial), 0) + 1, false);
alter table connector_events_initial
  drop constraint connector_events_org_id_endpoint_id_fkey,
  drop constraint connector_events_initial_pkey,
  add primary key (org_id, endpoint_id, external_id, received_at),
  alter column seq drop identity;
alter table connector_events_initial alter column seq set default nextval('connector_events_seq');
create table connector_events (
  like connector_events_initial including defaults including constraints including storage,
  constraint connector_events_pkey primary key (org_id, endpoint_id, external_id, received_at)
) partition by range (received_at);
create index connector_events_open on connector_events (org_id, endpoint_id, chat)
  where state in ('waiting', 'running');
create index connector_events_by_turn on connector_events (org_id, turn_id) where turn_id is not null;
create index connector_events_by_arrival on connector_events (org_id, endpoint_id, seq);
drop index connector_events_initial_by_age, connector_events_initial_second_key;
select adopt_initial_partition('connector_events', 'received_at');

-- Set by servers that write keys.
alter table connector_events add is_keyed boolean not null default false;
create function write_connector_event_keys() returns trigger language plpgsql as $$
begin
  if new.second_id is not null and exists (
    select from connector_event_keys k
    where k.org_id = new.org_id and k.endpoint_id = new.endpoint_id and k.key = new.second_id and k.is_second) then
    return null;
  end if;
  insert into connector_event_keys (org_id, endpoint_id, key, is_second)
  values (new.org_id, new.endpoint_id, new.external_id, false)
  on conflict do nothing;
  if not found then return null; end if;
  if new.second_id is not null then
    insert into connector_event_keys (org_id, endpoint_id, key, is_second)
    values (new.org_id, new.endpoint_id, new.second_id, true)
    on conflict do nothing;
  end if;
  return new;
end
$$;
create trigger connector_events_keys before insert on connector_events
  for each row when (not new.is_keyed) execute function write_connector_event_keys();

select ensure_partitions();
