-- A plan was paid twice, and the provider has not confirmed yet that the payments of this subscription are refunded.
alter table subscriptions add column refund_wanted_at timestamptz;
