-- Who invited a person, and who created a sign-in link in an org: both end when this member is removed or loses the role
-- that they need. Null: from before, or by a command.
alter table invitations add column invited_by_id uuid;
alter table sign_in_links add column created_by_id uuid;
