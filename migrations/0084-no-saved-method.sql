-- The payment provider said that the customer has no payment method that can be charged. Until somebody pays again there
-- is no use in asking.
alter table billing_accounts add column is_method_missing boolean not null default false;
