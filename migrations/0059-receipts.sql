-- Receipts. `billing_details`: how the org names itself on them. `buyer`: the details at the time of the payment.
alter table billing_accounts add column billing_details jsonb;
-- `receipt_number` counts the payments of an org without gaps. Null: not numbered yet, as the previous version leaves it.
-- `plan_id`: the plan that was paid; null for a deposit, and for payments of plans before this column existed.
alter table payments
  add column receipt_number bigint,
  add column plan_id text,
  add column buyer jsonb;
create unique index payments_receipt_key on payments (org_id, receipt_number);
