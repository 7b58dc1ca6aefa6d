-- The audit log of each org is a chain of hashes: an entry that was sealed cannot be changed, removed, inserted or moved
-- without breaking the chain. Entries are inserted without a place; the sealer gives them one within seconds.

alter table audit_log
  -- The place in the chain of the org, from 1; null until the entry is sealed.
  add column seq bigint,
  -- SHA-256 over the hash before it and all fields of the entry.
  add column hash bytea;
create unique index audit_log_by_seq on audit_log (org_id, seq) where seq is not null;
create index audit_log_unsealed on audit_log (org_id, at, id) where seq is null;

-- The ends of the chain of an org.
create table audit_heads (
  org_id uuid primary key references orgs (id),
  -- The last entry that was sealed.
  seq bigint not null default 0,
  hash bytea not null default decode(repeat('00', 32), 'hex'),
  -- The last entry that was removed from the beginning of the chain because of its age: the chain is verified from here.
  anchor_seq bigint not null default 0,
  anchor_hash bytea not null default decode(repeat('00', 32), 'hex')
);
