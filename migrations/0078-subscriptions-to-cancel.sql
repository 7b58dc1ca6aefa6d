create index subscriptions_to_cancel on subscriptions (org_id) where cancel_wanted_at is not null;
