-- What an org has set for itself. Null: the default of the server.
alter table orgs add column default_model text;
alter table orgs add column default_time_zone text;
alter table orgs add column default_language text;
-- The beginning of the SHA-256 of the logo, which its public URL has. Null without a logo.
alter table orgs add column logo_version text;

-- The logo of an org in its two sizes, as WebP. The bytes are here and not in the object store: they are few, they change
-- in one transaction with the audit log, and no sweep has to find those that nothing refers to.
create table org_logos (
  org_id uuid primary key,
  -- The same as in orgs.
  version text not null,
  small bytea not null check (octet_length(small) <= 32768),
  large bytea not null check (octet_length(large) <= 32768)
);
