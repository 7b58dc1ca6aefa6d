-- When the provider is asked again to cancel or refund a replaced subscription, after a job was given up, and since when a
-- person must act, because it has rejected that for days.
alter table subscriptions add column provider_retry_at timestamptz, add column provider_failed_at timestamptz;
