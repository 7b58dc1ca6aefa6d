-- Row-level security as a second line of defence. Transactions that work for one org run as the role `atrium_tenant`
-- with the setting `atrium.org`; the policies below hide every row of other orgs and reject writes to them. All other
-- statements run as the owner of the tables, to whom policies do not apply.

-- Grants `atrium_tenant` its privileges and creates the policy of every table with an `org_id`. It is idempotent and runs
-- after every migration, so that new tables are covered. Returns whether the role can be used: false when the owner may
-- not create roles.
create function protect_tenant_tables() returns boolean language plpgsql as $$
declare
  target record;
begin
  begin
    if not exists (select from pg_roles where rolname = 'atrium_tenant') then
      create role atrium_tenant nologin;
    end if;
    if not (select rolsuper from pg_roles where rolname = current_user)
      and not exists (
        select from pg_auth_members m
        join pg_roles granted on granted.oid = m.roleid and granted.rolname = 'atrium_tenant'
        join pg_roles member on member.oid = m.member and member.rolname = current_user
      )
    then
      execute format('grant atrium_tenant to %I', current_user);
    end if;
  exception
    -- Another database of the same server created it at this moment.
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then return false;
  end;
  for target in
    select c.oid, c.relname, c.relrowsecurity,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped) as is_tenant,
      exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant') as has_policy
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'schema_migrations'
  loop
    if not has_table_privilege('atrium_tenant', target.oid, 'select, insert, update, delete') then
      execute format('grant select, insert, update, delete on %I to atrium_tenant', target.relname);
    end if;
    if target.is_tenant and not target.has_policy then
      execute format(
        'create policy tenant on %I using (org_id = (select current_setting(''atrium.org'')::uuid))', target.relname);
    end if;
    if target.is_tenant and not target.relrowsecurity then
      execute format('alter table %I enable row level security', target.relname);
    end if;
  end loop;
  for target in
    select c.oid, c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'S'
  loop
    if not has_sequence_privilege('atrium_tenant', target.oid, 'usage') then
      execute format('grant usage on sequence %I to atrium_tenant', target.relname);
    end if;
  end loop;
  -- Work is enqueued in the transaction that needs it. The job tables appear after the first migration.
  if to_regnamespace('pgboss') is not null then
    if not has_schema_privilege('atrium_tenant', 'pgboss', 'usage') then
      grant usage on schema pgboss to atrium_tenant;
    end if;
    for target in
      select c.oid, c.relname from pg_class c
      where c.relnamespace = 'pgboss'::regnamespace and c.relkind in ('r', 'p')
        and not has_table_privilege('atrium_tenant', c.oid, 'select, insert, update, delete')
    loop
      execute format('grant select, insert, update, delete on pgboss.%I to atrium_tenant', target.relname);
    end loop;
  end if;
  return true;
end
$$;
