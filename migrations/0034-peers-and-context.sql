-- Agents that write to one another.

-- Of a session between two agents: their ids, the smaller first. They have one such session in a workspace.
alter table sessions add column peer_key text;
create unique index sessions_peer_key on sessions (org_id, workspace_id, peer_key)
  where peer_key is not null and deleted_at is null;

alter table turns
  -- The turn that a person began and all that agents asked of one another for its sake; null for the first itself.
  add column chain_id uuid,
  -- How many messages away from it.
  add column hop integer not null default 0,
  -- The turn whose agent wrote, and the call by which it did: run again, the call finds what it began.
  add column parent_turn_id uuid,
  add column parent_call text;
create unique index turns_parent_call_key on turns (org_id, parent_call) where parent_call is not null;
create index turns_by_parent on turns (org_id, parent_turn_id) where parent_turn_id is not null;
create index turns_by_chain on turns (org_id, chain_id) where chain_id is not null;

-- What the turns of a chain share, so that writing to one another gives agents no more of anything. Made with its first
-- message, under the id of its first turn.
create table peer_chains (
  org_id uuid not null,
  id uuid not null,
  messages integer not null,
  -- Calls of models by all turns of the chain.
  steps integer not null,
  max_steps integer not null,
  max_cost_cents integer,
  -- When the time of its first turn is up.
  deadline timestamptz not null,
  primary key (org_id, id),
  foreign key (org_id, id) references turns (org_id, id)
);

alter table turns
  -- Exchanges at the beginning of the conversation that its model was not shown, because they no longer fit.
  add column left_out_exchanges integer not null default 0;
