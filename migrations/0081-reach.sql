-- Which orgs a way to sign in opens, of those that its person belongs to; null: all of them. What began with the link of
-- one org opens that org alone: an address proves nothing here, so nobody but the operator vouches for all orgs.
alter table sign_in_links add column reach uuid[];
alter table sign_in_sessions add column reach uuid[];
alter table sign_in_accounts add column reach uuid[];
alter table sign_in_verifications add column reach uuid[];
alter table two_factors add column reach uuid[];
alter table step_up_tokens add column reach uuid[];

-- Nobody can tell any more whose link opened what: whoever was invited by link keeps the orgs that invited them.
create temporary table invited on commit drop as
  select (details ->> 'userId')::uuid as user_id, array_agg(distinct org_id) as reach
  from audit_log where action = 'member.invited' group by 1;
update sign_in_links s set reach = i.reach from invited i where i.user_id = s.user_id;
update sign_in_sessions s set reach = i.reach from invited i where i.user_id = s.user_id;
update sign_in_accounts s set reach = i.reach from invited i where i.user_id = s.user_id;
update two_factors s set reach = i.reach from invited i where i.user_id = s.user_id;
delete from sign_in_verifications where value in (select user_id::text from invited);
delete from step_up_tokens where user_id in (select user_id from invited);
