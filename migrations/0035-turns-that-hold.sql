-- What a turn has to know to stay right through crashes, waits of days and keys that are revoked under it.

alter table turns
  -- The key that asked for it, null for a person at the console: when it is revoked or expires, the turn ends.
  add column api_key_id uuid,
  -- When the last worker took it up: from then on counts the time that a worker had used when it died.
  add column claimed_at timestamptz,
  -- How many attempts there had been when it last waited for a person. Those say nothing of crashes.
  add column rested_attempts integer not null default 0,
  -- The number of the last frame of its stream, as of the last checkpoint: frames are removed after a day.
  add column last_seq integer not null default 0;

update turns set rested_attempts = attempts,
  last_seq = coalesce((select max(seq) from turn_events e where e.org_id = turns.org_id and e.turn_id = turns.id), 0)
where ended_at is null;

-- The few among all turns that ever were for which somebody may have to be found.
create index turns_under_way on turns (org_id, id) where status in ('queued', 'running');
