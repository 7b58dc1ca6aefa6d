-- The last request of a member in the org, written at most once an hour. Null before the first.
alter table members add column last_active_at timestamptz;
