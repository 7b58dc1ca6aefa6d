create index subscriptions_to_refund on subscriptions (org_id) where refund_wanted_at is not null;
