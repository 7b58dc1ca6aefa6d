import { sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'

export interface Rights {
  role: string
  canCreateTables: boolean
  /** Also true when the schema of the jobs exists. */
  canCreateSchemas: boolean
  /** Tables, views, sequences and functions of Atrium's schemas that another role owns. */
  notOwned: string[]
}

export const findRights = (db: Db) =>
  db.row<Rights>(sql`
    select current_user::text as role,
      has_schema_privilege('public', 'create') as can_create_tables,
      to_regnamespace('pgboss') is not null or has_database_privilege(current_database(), 'create')
        as can_create_schemas,
      array(
        select o.name from (
          select c.oid, c.relname::text as name, c.relowner as owner, c.relnamespace as namespace
          from pg_class c where c.relkind in ('r', 'p', 'S', 'v', 'm')
          union all
          select p.oid, p.proname::text, p.proowner, p.pronamespace from pg_proc p
        ) o
        where o.namespace in (to_regnamespace('public'), to_regnamespace('pgboss'))
          and not pg_has_role(o.owner, 'usage')
          and not exists (select from pg_depend d where d.objid = o.oid and d.deptype = 'e')
        order by 1
      ) as not_owned`)

export interface ConnectionUse {
  /** What the server, the database or the role allows, whichever leaves the fewest. */
  allowed: number
  used: number
}

// pg_stat_database, because pg_stat_activity hides the types of other users' backends.
export const findConnectionUse = (db: Db) =>
  db.row<ConnectionUse>(sql`
    with limits (allowed, used) as (
      select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0),
        (select sum(numbackends)::int from pg_stat_database)
      union all
      select d.datconnlimit, s.numbackends
      from pg_database d join pg_stat_database s on s.datid = d.oid
      where d.datname = current_database() and d.datconnlimit >= 0
      union all
      select r.rolconnlimit, (select count(*)::int from pg_stat_activity where usename = current_user)
      from pg_roles r where r.rolname = current_user and r.rolconnlimit >= 0
    )
    select allowed, used from limits order by allowed - used limit 1`)

/** The clock of the database in milliseconds since 1970. */
export const findClock = (db: Db) =>
  db.row<{ ms: number }>(sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`)

/** Connections of other processes of Atrium, which are older than this one. */
export const countConnections = async (db: Db, ownSeconds: number): Promise<number> => {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name in ('atrium', 'atrium-jobs', 'atrium-wake')
      and backend_start < now() - ${ownSeconds} * interval '1 second'`)
  return row?.count ?? 0
}
