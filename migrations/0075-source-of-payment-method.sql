-- Which payment the customer and the card of an account come from, and when it was made by the provider's clock: events and
-- jobs about an older payment must not replace them. Null: unknown, so that every payment does.
alter table billing_accounts add column method_payment_id text, add column method_paid_at timestamptz;
