-- One row: the object store that holds the files of this database. The store holds the same identity in the object
-- `atrium/store-id`. A process whose store has another identity does not start, because it would lose files.
create table object_store_registration (
  only_row boolean primary key default true check (only_row),
  -- Set by the first process that starts, before it writes the identity to its store.
  identity uuid,
  -- For messages: `disk host:/path` or `s3 endpoint/bucket`.
  location text,
  -- Null until the identity is in the store.
  registered_at timestamptz,
  -- The first process holds the lease while it writes to the store, so that no second store is registered.
  lease_token uuid,
  lease_until timestamptz,
  check (registered_at is null or (identity is not null and location is not null))
);
insert into object_store_registration default values;
