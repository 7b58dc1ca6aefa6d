-- A person has one password and one second factor for each org scope, so that what was set up by the invitation of one
-- org is never asked for by another one. The scopes of one person never overlap; the application sees to that under a
-- lock on the person.
alter table sign_in_accounts drop constraint sign_in_accounts_user_id_provider_id_key;
alter table two_factors drop constraint two_factors_user_id_key;
create unique index sign_in_accounts_scope_key on sign_in_accounts (user_id, provider_id, reach) nulls not distinct;
create unique index two_factors_scope_key on two_factors (user_id, reach) nulls not distinct;
-- Until now every sign-in by this password asked for this second factor, so they belong together.
update two_factors t set reach = a.reach from sign_in_accounts a where a.user_id = t.user_id;
-- Whether a second factor is on depends on the scope: a row of two_factors says it.
alter table users drop column two_factor_enabled;

-- When the person last signed in: somebody who has is asked before another org makes them a member.
alter table users add column signed_in_at timestamptz;
update users u set signed_in_at = u.created_at
where exists (select from sign_in_accounts a where a.user_id = u.id)
  or exists (select from sign_in_sessions s where s.user_id = u.id);

-- Failed sign-ins since the last successful one with this password; the last five addresses that they came from.
alter table sign_in_accounts add column failed_count integer not null default 0;
alter table sign_in_accounts add column failed_at timestamptz;
alter table sign_in_accounts add column failed_from text[] not null default '{}';
-- What the session tells its person about that: {count, lastAt, addresses}.
alter table sign_in_sessions add column failed_sign_ins jsonb;

-- Failed attempts by what they were made against (`subject`: a password, an unknown address, a step-up) and from where
-- (`source`: a browser that signed in before, or any other). Attempts are let through again at blocked_until.
create table sign_in_throttles (
  subject text not null,
  source text not null,
  attempts integer not null,
  blocked_until timestamptz not null,
  updated_at timestamptz not null,
  primary key (subject, source)
);
create index sign_in_throttles_by_time on sign_in_throttles (updated_at);

-- People who have not yet agreed to be members. They are in no other table of the org until they accept, so nothing
-- there can take them for members. The id becomes the membership's.
create table invitations (
  org_id uuid not null references orgs (id),
  id uuid not null,
  user_id uuid not null references users (id),
  name text not null,
  role text not null check (role in ('owner', 'admin', 'billing_manager', 'member')),
  workspace_ids uuid[] not null,
  invited_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id),
  constraint invitations_user_key unique (org_id, user_id)
);
create index invitations_by_user on invitations (user_id);
