-- Events that wait for an internal subscription, each until it was handled or given up. Those of one subscription and
-- subject are handled in the order of their numbers, so only the first one of them has a job.
create table subscription_queue (
  org_id uuid not null,
  subscription text not null,
  subject_type text not null,
  subject_id uuid not null,
  sequence bigint not null,
  event_id uuid not null,
  -- When its job was enqueued; null: it waits for an earlier event of its subject.
  enqueued_at timestamptz,
  primary key (org_id, subscription, subject_type, subject_id, sequence)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- For the sweep that looks for events whose job is gone.
create index subscription_queue_by_time on subscription_queue (subscription, enqueued_at) where enqueued_at is not null;

-- The chain of events that the request of a provider's event belonged to. The turn that replies continues it. Not in the
-- migration before, so that a migration locks one table of running servers only and cannot deadlock.
alter table connector_events add event_chain_id uuid, add event_depth smallint;
