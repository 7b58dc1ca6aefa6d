-- Event endpoints: URLs that Atrium's own events are sent to. Their deliveries share the queue and the history of webhooks,
-- with the id of the endpoint as `webhook_id`.
--
-- A table of their own and not rows of `webhooks`, because of servers of the previous version, which run beside this one
-- during an update: they would list endpoints as webhooks, accept events at their ids, and end their deliveries without
-- sending them, because they look for the body among received events. A server that finds no webhook for a queued delivery
-- neither claims it nor shows it.
--
-- Without a foreign key to orgs, so that the migration locks one table of running servers only and cannot deadlock.

create table event_endpoints (
  org_id uuid not null,
  id uuid not null,
  name text not null check (char_length(name) between 1 and 120),
  url text not null,
  -- Patterns, such as `file.*`.
  types text[] not null,
  -- Null: all workspaces.
  workspace_ids uuid[],
  filter jsonb,
  ordering text not null default 'none' check (ordering in ('none', 'subject')),
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  -- Why the server disabled it.
  status_reason text,
  -- Encrypted.
  secret text not null,
  -- Who set the URL. Events that this person may not read are not delivered.
  user_id uuid not null,
  api_key_id uuid,
  scopes text[] not null,
  delivery_count bigint not null default 0,
  last_delivery_at timestamptz,
  -- The first failed attempt since the last successful one.
  failing_since timestamptz,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, id)
) with (fillfactor = 70);

-- Deliveries with the same key, which contains the id of the endpoint, are sent in the order of their numbers. All but the
-- first one of a key wait with `due_at` infinity, where no claim reads them; when a delivery ends, the next one becomes
-- due.
alter table webhook_queue add order_key text, add order_number bigint;
-- The statements that use it order by its last column, so that the planner prefers it to the other indexes with `org_id`,
-- which seem as cheap while the table is empty.
create index webhook_queue_by_order on webhook_queue (org_id, order_key, order_number) where order_key is not null;
