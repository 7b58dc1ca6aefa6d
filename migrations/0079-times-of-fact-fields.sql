-- When the latest event that reported each field of a fact was made, by the provider's clock: of two events about a fact, one
-- can be the later one for some fields only. Null, or without a field: told_at.
alter table payment_facts add column field_times jsonb;
