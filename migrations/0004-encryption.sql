-- One row for each encryption key that sealed something here, with a known text under it: how a start tells that it
-- was given the right keys, before anything is read or written with wrong ones.
create table encryption_checks (
  key_id text primary key,
  sealed text not null,
  created_at timestamptz not null default now()
);
