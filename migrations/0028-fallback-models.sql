-- The model that a call was made to instead of the turn's own one, with its prices and the org's key at its provider:
-- { model, pricing, providerKeyId }. Null for the turn's own model.
alter table turn_steps add fallback jsonb;
