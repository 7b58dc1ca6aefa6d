-- How many workers died while they had the turn, since it last waited for a person. A worker that gives a turn back, or
-- loses it while it lives, is not counted.
alter table turns add column worker_deaths integer not null default 0;
