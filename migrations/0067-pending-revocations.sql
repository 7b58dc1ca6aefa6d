-- Finds the revoked connections whose grants are not revoked at their providers yet.
create index connections_by_pending_revocation on connections (org_id, id) where provider_revocation = 'pending';
