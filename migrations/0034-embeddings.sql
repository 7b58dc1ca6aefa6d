-- Model calls outside of turns, such as those of embedding models, reserve money too. No turn ends their reservations, so
-- they expire. Null: the reservation lasts until its turn ends.
alter table usage_holds add column expires_at timestamptz;
