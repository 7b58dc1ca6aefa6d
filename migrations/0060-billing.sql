-- Money. The ledger is the truth: whole cents, appended and never changed; an account's balance is the sum of its
-- transactions and changes with them only, which the database itself sees to. Calls of models are recorded in microcents
-- (10,000 are a cent) by whoever made them, without waiting for one another, in usage_inbox; one writer at a time folds
-- an org's inbox into the records, the rollups that reports read, and the ledger, in one transaction.

create table billing_accounts (
  org_id uuid primary key references orgs (id),
  balance_cents bigint not null default 0,
  cumulative_deposits_cents bigint not null default 0 check (cumulative_deposits_cents >= 0),
  -- The number of the last transaction.
  transaction_count bigint not null default 0,
  -- Everything that was ever charged, the fee's part of it, and what of both has moved into the ledger.
  charged_microcents bigint not null default 0,
  fee_microcents bigint not null default 0,
  moved_cents bigint not null default 0,
  moved_fee_cents bigint not null default 0,
  remainder_microcents bigint not null generated always as (charged_microcents - 10000 * moved_cents) stored,
  -- Of redeemed promotions, not used up yet.
  promotion_remaining_cents bigint not null default 0 check (promotion_remaining_cents >= 0),
  auto_topup_enabled boolean not null default false,
  auto_topup_threshold_cents bigint not null default 500 check (auto_topup_threshold_cents >= 100),
  auto_topup_amount_cents bigint not null default 2500 check (auto_topup_amount_cents >= 100),
  auto_topup_monthly_cap_cents bigint check (auto_topup_monthly_cap_cents >= 100),
  -- After a decline nothing is tried before this.
  auto_topup_retry_at timestamptz,
  auto_topup_declines integer not null default 0,
  monthly_cap_cents bigint check (monthly_cap_cents >= 0),
  -- The month in which it was last said that most of the cap is used.
  cap_warned_month date,
  customer_id text,
  payment_method_id text,
  check (remainder_microcents between 0 and 9999)
) with (fillfactor = 50);

create function open_billing_account() returns trigger language plpgsql as $$
begin
  insert into billing_accounts (org_id) values (new.id);
  return null;
end
$$;
create trigger orgs_billing_account after insert on orgs for each row execute function open_billing_account();
insert into billing_accounts (org_id) select id from orgs;

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
  -- What it stands for, so that nothing is booked twice: payment:<id>, refund:<id>, invoice:<id>, …
  reference text,
  created_at timestamptz not null default clock_timestamp(),
  primary key (org_id, number),
  check (type <> 'deposit' or amount_cents > 0),
  check (type not in ('usage', 'platform_fee', 'refund') or amount_cents < 0)
);
create unique index transactions_reference_key on transactions (org_id, reference) where reference is not null;
create index transactions_by_type on transactions (org_id, type, number desc);

-- How many of each type there are and what they come to, for pages with a total.
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

-- A balance that is set by hand, past the ledger, is refused as well.
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

-- One row for each call of a model that was charged or free. No foreign keys: a check of the org's row would have a
-- thousand charges a second take turns on it.
create table usage_inbox (
  org_id uuid not null,
  turn_id uuid not null,
  step integer not null,
  attempt integer not null,
  at timestamptz not null default now(),
  agent_id uuid not null,
  project_id uuid,
  model text not null,
  -- chat, peer, connector
  operation text not null,
  input_tokens bigint not null check (input_tokens >= 0),
  output_tokens bigint not null check (output_tokens >= 0),
  cache_read_tokens bigint not null check (cache_read_tokens >= 0),
  cache_write_tokens bigint not null check (cache_write_tokens >= 0),
  -- The provider did not tell; the tokens are counted from the text.
  is_estimate boolean not null,
  -- On the org's own key: its provider is paid by the org itself, only the fee is charged.
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

-- The records summed up by day and by month (UTC), once in all and once along each axis: what a report costs to read
-- does not depend on how many records there are.
create table usage_rollups (
  org_id uuid not null,
  axis text not null check (axis in ('total', 'model', 'agent', 'project', 'operation')),
  grain text not null check (grain in ('day', 'month')),
  period date not null,
  -- The model, the agent, the project (empty: none), the operation; empty for the total.
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

-- What turns that have not ended may still cost. All that is held is the sum of an org's rows.
create table usage_holds (
  org_id uuid not null,
  turn_id uuid not null,
  agent_id uuid not null,
  microcents bigint not null check (microcents >= 0),
  created_at timestamptz not null default now(),
  primary key (org_id, turn_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The platform's fee is part of a turn's price, fixed with it.
alter table turns
  add column fee_bps integer not null default 0,
  add column fee_waiver_cents bigint not null default 0,
  -- The org's own key at the model's provider, when the turn runs on one.
  add column provider_key_id uuid;

-- A visit to the payment provider's page. Amount, plan and org are ours: what comes back only names the row.
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

-- Payments that were credited, and what of them went back.
create table payments (
  org_id uuid not null references billing_accounts (org_id),
  payment_intent_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  refunded_cents bigint not null default 0 check (refunded_cents >= 0),
  created_at timestamptz not null default now(),
  primary key (org_id, payment_intent_id)
);
create unique index payments_intent_key on payments (payment_intent_id);

-- One attempt to fill up an account by itself. Its id is the idempotency key toward the provider, so however often it
-- is carried out it charges once; after a decline the next attempt is another row.
create table topups (
  org_id uuid not null references billing_accounts (org_id),
  id uuid not null,
  state text not null default 'due' check (state in ('due', 'processing', 'succeeded', 'declined', 'failed')),
  amount_cents bigint not null check (amount_cents > 0),
  -- What is charged, settled before the first try: a repeated request has to be the same.
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

-- Of the payment provider's account, not of an org: which of its events were applied, and what it told of payments and
-- subscriptions, kept until we know whose they are. Events come in any order.
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
  -- Until when it can be redeemed.
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
