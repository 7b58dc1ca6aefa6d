-- URLs to which the states of a task are sent, by the Agent2Agent protocol. A task is a turn. Their deliveries share the
-- queue and the attempts of webhooks, with the id of the row as `webhook_id`.
--
-- A table of their own and not rows of `event_endpoints`, because of servers of the previous version, which run beside
-- this one during an update: they would list them as event endpoints and send them events. A server that finds no webhook
-- for a queued delivery neither claims it nor shows it.
create table task_push_configs (
  org_id uuid not null,
  id uuid not null,
  turn_id uuid not null,
  -- The name that the client gave it; unique for each task.
  name text not null,
  workspace_id uuid not null,
  url text not null,
  -- Encrypted JSON of the headers that authenticate a notification: { token?, authorization? }.
  secret text not null,
  -- The scheme of `authorization`, which clients may read.
  scheme text,
  -- The revision of the protocol in which the client set it, and in which notifications are sent.
  revision text not null check (revision in ('0.3', '1.0')),
  -- Who set it. Nothing is sent that this person may not read, or whose key is not live.
  user_id uuid not null,
  api_key_id uuid,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  -- When the end of the task was queued. The row is deleted some days later, when no retry is left.
  ended_at timestamptz,
  primary key (org_id, id)
);
create unique index task_push_configs_by_task on task_push_configs (org_id, turn_id, name);
-- Counts those of tasks that have not ended.
create index task_push_configs_open on task_push_configs (org_id) where ended_at is null;
-- For their expiry.
create index task_push_configs_by_age on task_push_configs (created_at);
create index task_push_configs_by_end on task_push_configs (ended_at) where ended_at is not null;
