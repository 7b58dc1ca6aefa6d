-- Money. The ledger holds whole cents and is append-only; an account's balance is the sum of its transactions, and
-- triggers ensure that it changes with them only. Model calls are recorded in microcents (10,000 per cent) in
-- usage_inbox, without waiting for one another. One writer at a time posts an org's inbox to the records, the rollups
-- that reports read, and the ledger, in one transaction.

create table billing_accounts (
  org_id uuid primary key references orgs (id),
  balance_cents bigint not null default 0,
  cumulative_deposits_cents bigint not null default 0 check (cumulative_deposits_cents >= 0),
  -- The number of the last transaction.
  transaction_count bigint not null default 0,
  -- The sum of all charges, the fees in it, and how much of both is posted to the ledger.
  charged_microcents bigint not null default 0,
  fee_microcents bigint not null default 0,
  moved_cents bigint not null default 0,
  moved_fee_cents bigint not null default 0,
  remainder_microcents bigint not null generated always as (charged_microcents - 10000 * moved_cents) stored,
  -- The unused part of redeemed promotions.
  promotion_remaining_cents bigint not null default 0 check (promotion_remaining_cents >= 0),
  auto_topup_enabled boolean not null default false,
  auto_topup_threshold_cents bigint not null default 500 check (auto_topup_threshold_cents >= 100),
  auto_topup_amount_cents bigint not null default 2500 check (auto_topup_amount_cents >= 100),
  auto_topup_monthly_cap_cents bigint check (auto_topup_monthly_cap_cents >= 100),
  -- No attempt before this time, after a decline.
  auto_topup_retry_at timestamptz,
  auto_topup_declines integer not null default 0,
  monthly_cap_cents bigint check (monthly_cap_cents >= 0),
  -- The month of the last warning that the monthly cap is nearly used up.
  cap_warned_month date,
  customer_id text,
  payment_method_id text,
  -- The payment provider reported that the customer has no chargeable payment method. Not asked again before the next
  -- payment.
  is_method_missing boolean not null default false,
  check (remainder_microcents between 0 and 9999)
) with (fillfactor = 50);

create function open_billing_account() returns trigger language plpgsql as $$
begin
  insert into billing_accounts (org_id) values (new.id);
  return null;
end
$$;
create trigger orgs_billing_account after insert on orgs for each row execute function open_billing_account();

create table transactions (
  org_id uuid not null references billing_accounts (org_id),
  -- The place in the org's ledger, from 1, without gaps.
  number bigint not null,
  id uuid not null,
  type text not null check (type in ('deposit', 'usage', 'refund', 'adjustment', 'platform_fee')),
  amount_cents bigint not null check (amount_cents <> 0),
  balance_after_cents bigint not null,
  payment_intent_id text,
  notes text,
  -- What the transaction stands for, so that nothing is posted twice: payment:<id>, refund:<id>, invoice:<id>, …
  reference text,
  created_at timestamptz not null default clock_timestamp(),
  primary key (org_id, number),
  check (type <> 'deposit' or amount_cents > 0),
  check (type not in ('usage', 'platform_fee', 'refund') or amount_cents < 0)
);
create unique index transactions_reference_key on transactions (org_id, reference) where reference is not null;
create index transactions_by_type on transactions (org_id, type, number desc);

-- Count and sum of the transactions of each type, for the totals of a page.
create table transaction_totals (
  org_id uuid not null references billing_accounts (org_id),
  type text not null,
  count bigint not null,
  cents bigint not null,
  primary key (org_id, type)
) with (fillfactor = 50);

create function book_transaction() returns trigger language plpgsql as $$
begin
  update billing_accounts
  set balance_cents = balance_cents + new.amount_cents, transaction_count = new.number,
    cumulative_deposits_cents =
      cumulative_deposits_cents + case when new.type = 'deposit' then new.amount_cents else 0 end
  where org_id = new.org_id and transaction_count = new.number - 1
    and balance_cents + new.amount_cents = new.balance_after_cents;
  if not found then
    raise exception 'transaction % does not continue the ledger of org %', new.number, new.org_id;
  end if;
  insert into transaction_totals (org_id, type, count, cents) values (new.org_id, new.type, 1, new.amount_cents)
  on conflict (org_id, type)
    do update set count = transaction_totals.count + 1, cents = transaction_totals.cents + excluded.cents;
  return null;
end
$$;
create trigger transactions_book after insert on transactions for each row execute function book_transaction();

create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end
$$;
create trigger transactions_append_only before update or delete on transactions
  for each row execute function refuse_ledger_change();
create trigger transactions_keep before truncate on transactions
  for each statement execute function refuse_ledger_change();

-- Rejects a balance that is set directly, without a transaction.
create function refuse_balance_change() returns trigger language plpgsql as $$
begin
  raise exception 'the balance of org % changes by transactions only', old.org_id using errcode = 'restrict_violation';
end
$$;
create trigger billing_accounts_by_ledger before update on billing_accounts
  for each row when (
    pg_trigger_depth() = 0 and (
      old.balance_cents <> new.balance_cents
      or old.cumulative_deposits_cents <> new.cumulative_deposits_cents
      or old.transaction_count <> new.transaction_count
    )
  ) execute function refuse_balance_change();

-- One row per model call, free ones included. There are no foreign keys: each would lock the org's row, and a thousand
-- charges a second would wait for it.
create table usage_inbox (
  org_id uuid not null,
  turn_id uuid not null,
  step integer not null,
  attempt integer not null,
  at timestamptz not null default now(),
  agent_id uuid not null,
  project_id uuid,
  model text not null,
  -- chat, peer or connector.
  operation text not null,
  input_tokens bigint not null check (input_tokens >= 0),
  output_tokens bigint not null check (output_tokens >= 0),
  cache_read_tokens bigint not null check (cache_read_tokens >= 0),
  cache_write_tokens bigint not null check (cache_write_tokens >= 0),
  -- The provider reported no usage; the tokens are counted from the text.
  is_estimate boolean not null,
  -- The call used the org's own provider key: the org pays the provider, and only the fee is charged.
  is_byok boolean not null,
  provider_cost_microcents bigint not null check (provider_cost_microcents >= 0),
  platform_fee_microcents bigint not null check (platform_fee_microcents >= 0),
  charged_microcents bigint not null
    generated always as (case when is_byok then 0 else provider_cost_microcents end + platform_fee_microcents) stored,
  primary key (org_id, turn_id, step, attempt)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create table usage_records (
  org_id uuid not null,
  turn_id uuid not null,
  step integer not null,
  attempt integer not null,
  at timestamptz not null,
  agent_id uuid not null,
  project_id uuid,
  model text not null,
  operation text not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  is_estimate boolean not null,
  is_byok boolean not null,
  provider_cost_microcents bigint not null,
  platform_fee_microcents bigint not null,
  charged_microcents bigint not null,
  primary key (org_id, turn_id, step, attempt)
);
create trigger usage_records_append_only before update or delete on usage_records
  for each row execute function refuse_ledger_change();
create trigger usage_records_keep before truncate on usage_records
  for each statement execute function refuse_ledger_change();

-- Sums of the records by day and by month (UTC), in total and along each axis, so that the cost of reading a report does
-- not depend on the number of records.
create table usage_rollups (
  org_id uuid not null,
  axis text not null check (axis in ('total', 'model', 'agent', 'project', 'operation')),
  grain text not null check (grain in ('day', 'month')),
  period date not null,
  -- The model, agent, project (empty: none) or operation; empty for the total.
  key text not null,
  request_count bigint not null,
  byok_request_count bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  provider_cost_microcents bigint not null,
  platform_fee_microcents bigint not null,
  charged_microcents bigint not null,
  primary key (org_id, axis, grain, period, key)
) with (fillfactor = 70);

-- Reservations: what turns that have not ended may still cost. The reserved amount of an org is the sum of its rows.
create table usage_holds (
  org_id uuid not null,
  turn_id uuid not null,
  agent_id uuid not null,
  microcents bigint not null check (microcents >= 0),
  created_at timestamptz not null default now(),
  primary key (org_id, turn_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- A visit to the payment provider's page. Amount, plan and org are stored here; what the provider sends only names the
-- row.
create table checkouts (
  org_id uuid not null references billing_accounts (org_id),
  id uuid not null,
  kind text not null check (kind in ('deposit', 'subscription')),
  state text not null default 'open' check (state in ('open', 'paid', 'failed', 'expired')),
  amount_cents bigint not null check (amount_cents > 0),
  plan_id text,
  session_id text,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  primary key (org_id, id),
  check ((kind = 'subscription') = (plan_id is not null))
);
create unique index checkouts_session_key on checkouts (session_id);

-- Credited payments, deposits and plans, and how much of them was refunded.
create table payments (
  org_id uuid not null references billing_accounts (org_id),
  payment_intent_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  refunded_cents bigint not null default 0 check (refunded_cents >= 0),
  created_at timestamptz not null default now(),
  -- What was paid, when a plan granted another amount; a refund takes back credit in proportion. Null: amount_cents.
  paid_cents bigint check (paid_cents > 0),
  primary key (org_id, payment_intent_id)
);
create unique index payments_intent_key on payments (payment_intent_id);

-- One attempt at an automatic top-up. Its id is the idempotency key at the payment provider, so repeating the attempt
-- charges once; after a decline the next attempt is another row.
create table topups (
  org_id uuid not null references billing_accounts (org_id),
  id uuid not null,
  state text not null default 'due' check (state in ('due', 'processing', 'succeeded', 'declined', 'failed')),
  amount_cents bigint not null check (amount_cents > 0),
  -- Fixed before the first request, because a repeated request must be identical.
  customer_id text,
  payment_method_id text,
  payment_intent_id text,
  failure_code text,
  failure_message text,
  lease_token uuid,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (org_id, id),
  check ((ended_at is null) = (state in ('due', 'processing')))
);
create unique index topups_open_key on topups (org_id) where ended_at is null;
create unique index topups_id_key on topups (id);
create index topups_by_time on topups (org_id, created_at desc);

create table subscriptions (
  org_id uuid not null references billing_accounts (org_id),
  provider_id text not null,
  plan_id text not null,
  status text not null,
  included_credit_cents bigint not null,
  cancel_at_period_end boolean not null default false,
  current_period_end timestamptz,
  created_at timestamptz not null default now(),
  primary key (org_id, provider_id)
);
create unique index subscriptions_provider_key on subscriptions (provider_id);

-- These two tables belong to the payment provider's account, not to an org: the events that were applied, and what events
-- reported about payments and subscriptions before their org was known. Events arrive in any order.
create table payment_events (
  id text primary key,
  type text not null,
  received_at timestamptz not null default now()
);
create table payment_facts (
  -- The payment intent or the subscription.
  subject text not null,
  kind text not null,
  id text not null,
  data jsonb not null,
  told_at timestamptz not null,
  received_at timestamptz not null default now(),
  primary key (subject, kind, id)
);

create table promotions (
  id uuid primary key,
  code text not null,
  description text,
  amount_cents bigint not null check (amount_cents > 0),
  -- The end of redemption; null: none.
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index promotions_code_key on promotions (code);

create table promotion_redemptions (
  org_id uuid not null references billing_accounts (org_id),
  promotion_id uuid not null references promotions (id),
  remaining_cents bigint not null check (remaining_cents >= 0),
  redeemed_at timestamptz not null default clock_timestamp(),
  primary key (org_id, promotion_id)
);

create table provider_keys (
  org_id uuid not null references orgs (id),
  id uuid not null,
  provider text not null,
  label text,
  fingerprint text not null,
  sealed_key text not null,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);
create index provider_keys_by_provider on provider_keys (org_id, provider, created_at desc);
