-- When the checkout of the subscription was paid, by the provider's clock: the latest purchase replaces the others, in
-- whatever order the events arrive. Null: created_at.
alter table subscriptions add column bought_at timestamptz;
