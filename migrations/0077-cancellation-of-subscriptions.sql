-- Another plan replaced the subscription, and the provider has not confirmed yet that it is canceled.
alter table subscriptions add column cancel_wanted_at timestamptz;
