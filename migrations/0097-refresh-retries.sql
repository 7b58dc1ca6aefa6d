-- The refresh token before the current one, and when it was replaced: a client that did not get the response may use it
-- again for a short time.
alter table api_keys add column app_previous_hash bytea, add column app_refreshed_at timestamptz;
