-- Events of Atrium itself. An event is inserted into the outbox in the transaction of the change that it reports. After
-- the commit, a publisher moves it to the log and gives it its position, so the log is in the order of the commits as far
-- as a reader can tell: no event appears before one that a reader has already seen.

create sequence event_outbox_seq as bigint;
create table event_outbox (
  org_id uuid not null,
  -- Taken while the transaction has the lock on the subject, so the events of a subject are in its order of changes.
  seq bigint not null default nextval('event_outbox_seq'),
  id uuid not null,
  type text not null,
  workspace_id uuid,
  actor jsonb not null,
  subject_type text not null,
  subject_id uuid not null,
  data jsonb not null,
  -- The first event of the chain; null: this one is the first. `depth`: its number of predecessors.
  chain_id uuid,
  depth smallint not null default 0,
  occurred_at timestamptz not null default now(),
  primary key (org_id, seq)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- The position of an org's last event. Locked while a publisher moves events.
create table event_heads (
  org_id uuid not null,
  position bigint not null default 0,
  primary key (org_id)
) with (fillfactor = 50);

-- The number of events of a subject.
create table event_subjects (
  org_id uuid not null,
  type text not null,
  id uuid not null,
  sequence bigint not null,
  primary key (org_id, type, id)
) with (fillfactor = 80);

create table events (
  org_id uuid not null,
  id uuid not null,
  position bigint not null,
  type text not null,
  workspace_id uuid,
  actor jsonb not null,
  subject_type text not null,
  subject_id uuid not null,
  sequence bigint not null,
  data jsonb not null,
  chain_id uuid not null,
  depth smallint not null,
  occurred_at timestamptz not null,
  primary key (org_id, id)
) partition by range (id);
create index events_by_position on events (org_id, position);
insert into partitioned_tables (name, unit, ahead) values ('events', 'month', 2);
select ensure_partitions();
