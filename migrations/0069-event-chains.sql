-- How many deliveries the events of a chain have caused, of events that are not the first of their chain.
create table event_chains (
  org_id uuid not null,
  id uuid not null,
  deliveries integer not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);
create index event_chains_by_time on event_chains (created_at);
