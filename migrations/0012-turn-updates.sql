-- A turn changes its row and that of its session two or three times. PostgreSQL updates a row in place of its index
-- entries (heap-only tuple, HOT) when no indexed column changes and the page has room. Until now every such change also
-- wrote to four to nine indexes, and a trigger rewrote the participants of the session. From here on no index contains a
-- column that a turn changes:
--   - lists by last change use a column that changes every ten minutes at most;
--   - turns that need a worker are rows of active_turns, a small table that a partial index on turns did the work of.
-- A server of the version before can run beside: it reads and writes the same columns. Its sessions can be out of order in
-- lists by agent until their next turn, and its lists are slower.

-- At once: a transaction of a running server that has one of them and waits for another would be a deadlock.
lock table sessions, turns, session_participants in access exclusive mode;

alter table sessions set (fillfactor = 70);
alter table turns set (fillfactor = 70);

-- The start of the ten minutes in which the session last changed. Lists sort by it and, within it, by updated_at: an index
-- on updated_at would change with every turn.
alter table sessions add column changed_at timestamptz
  generated always as (date_bin('10 minutes', updated_at, timestamptz '2020-01-01 00:00:00+00')) stored;
-- About how many tokens the next prompt of the session begins with: what the last one had, and its response. 0 when
-- unknown. The first model call of a turn needs no second reservation of money when this was enough.
alter table sessions add column context_tokens integer not null default 0;
drop index sessions_by_update;
create index sessions_by_change on sessions (org_id, workspace_id, changed_at desc) where deleted_at is null;

-- Statements that change updated_at of a session copy it here when changed_at differs.
drop trigger sessions_touch on sessions;
drop function session_touched();
alter table session_participants add column changed_at timestamptz
  generated always as (date_bin('10 minutes', updated_at, timestamptz '2020-01-01 00:00:00+00')) stored;
drop index session_participants_by_update;
create index session_participants_by_change on session_participants (org_id, participant_id, changed_at desc);

-- The turn of each session that runs or waits for a worker. A turn that waits for a person, or behind another turn of its
-- session, has no row. Sweeps look here for turns whose worker died and for turns whose job was lost.
create table active_turns (
  org_id uuid not null,
  session_id uuid not null,
  turn_id uuid not null,
  since timestamptz not null default now(),
  primary key (org_id, session_id)
);
-- Rows live for seconds: with the default settings most of the table is dead rows.
alter table active_turns set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
insert into active_turns (org_id, session_id, turn_id)
select t.org_id, t.session_id, t.id
from turns t join sessions s on s.org_id = t.org_id and s.id = t.session_id and s.active_turn_id = t.id
where t.status in ('queued', 'running');

-- The queued turns of a session have larger numbers than its active turn, and (org_id, session_id, number) finds them.
drop index turns_waiting;
drop index turns_under_way;
-- A session has one active_turn_id, and only that turn can be claimed.
drop index turns_active_key;
