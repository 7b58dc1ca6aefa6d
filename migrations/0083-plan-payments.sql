-- Payments of plans are kept beside those that were deposits. What a plan grants is another sum than what was paid for
-- it: what of the credit goes back with the payment is in proportion. Null: credited as it was paid.
alter table payments add column paid_cents bigint check (paid_cents > 0);
