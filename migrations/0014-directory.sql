-- Which org owns an id that arrives without one: in a URL that receives events, in the state of an OAuth flow, in an
-- event of the payment provider. On a schema that `atrium distribute` spreads over several machines by org_id, a unique
-- key without org_id cannot exist, and finding such an id would ask every machine. This table stays on one machine: its
-- key is unique over all orgs, and the row that it points to is read by (org_id, …). Both are written in one transaction.
create table directory (
  kind text not null check (kind in
    ('webhook', 'endpoint', 'oauth_state', 'checkout', 'payment', 'subscription', 'topup', 'topup_payment', 'linear')),
  key text not null,
  org_id uuid not null references orgs (id),
  created_at timestamptz not null default now(),
  primary key (kind, key)
);
-- The states of OAuth flows expire.
create index directory_of_states on directory (created_at) where kind = 'oauth_state';

-- A process of an older version, which runs beside this one during an update, does not write the directory. Without
-- these triggers, a payment that it opened could never be credited. `atrium distribute` drops them: the machines that
-- hold the tenants' tables do not have the directory.
create function directory_entry() returns trigger language plpgsql as $$
declare
  found_key text := to_jsonb(new) ->> tg_argv[1];
begin
  if found_key is not null then
    insert into directory (kind, key, org_id) values (tg_argv[0], found_key, new.org_id) on conflict do nothing;
  end if;
  return null;
end
$$;

do $$
declare
  entry record;
begin
  for entry in
    select * from (values
      ('webhooks', 'webhook', 'id'),
      ('connector_endpoints', 'endpoint', 'id'),
      ('oauth_states', 'oauth_state', 'state_hash'),
      ('checkouts', 'checkout', 'session_id'),
      ('payments', 'payment', 'payment_intent_id'),
      ('subscriptions', 'subscription', 'provider_id'),
      ('topups', 'topup', 'id'),
      ('topups', 'topup_payment', 'payment_intent_id'),
      ('linear_bindings', 'linear', 'organization_id')
    ) as e (source, kind, field)
  loop
    execute format(
      'create trigger directory_%s after insert or update of %I on %I for each row execute function directory_entry(%L, %L)',
      entry.kind, entry.field, entry.source, entry.kind, entry.field);
    -- A bytea becomes `\x` and hexadecimal digits, as by to_jsonb in the trigger.
    execute format(
      'insert into directory (kind, key, org_id) select %L, %I::text, org_id from %I where %I is not null on conflict do nothing',
      entry.kind, entry.field, entry.source, entry.field);
  end loop;
end
$$;

-- The directory replaces the keys without org_id. Where the primary key holds the same columns, nothing else is needed.
drop index webhooks_by_id;
drop index connector_endpoints_id_key;
drop index topups_id_key;
drop index payments_intent_key;
drop index subscriptions_provider_key;
drop index oauth_states_hash_key;
create unique index oauth_states_hash_key on oauth_states (org_id, state_hash);
drop index checkouts_session_key;
create unique index checkouts_session_key on checkouts (org_id, session_id);
-- The key without org_id stays, because the previous version names it in ON CONFLICT. `atrium distribute` drops it.
create unique index linear_bindings_org_key on linear_bindings (org_id, organization_id);
-- The statements name the org, the caller and the route with the claim.
alter table idempotency_keys drop constraint idempotency_keys_claim_key;
-- Numbers come from one sequence, so they are unique without an index that says so.
drop index webhook_queue_by_number;
create index webhook_queue_by_number on webhook_queue (number);
