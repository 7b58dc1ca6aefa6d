import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import type { Language } from '../../platform/text/languages.ts'

// The table of orgs itself has no org_id.

export interface OrgRow {
  id: string
  name: string
  createdAt: string
  updatedAt: string
}

export const insertOrg = (db: Db, id: string, name: string) =>
  db.row<OrgRow>(sql`insert into orgs (id, name) values (${id}, ${name}) returning id, name, created_at, updated_at`)

/** What an org has set for itself. Null: the default of the server. */
export interface OrgDefaults {
  defaultModel: string | null
  defaultTimeZone: string | null
  defaultLanguage: Language | null
}

export interface OrgSettingsRow extends OrgRow, OrgDefaults {
  /** Changes with every logo. Null without one. */
  logoVersion: string | null
}

const settings = sql`id, name, created_at, updated_at, default_model, default_time_zone, default_language, logo_version`

export const findOrg = (db: Db, id: string) =>
  db.row<OrgSettingsRow>(sql`select ${settings} from orgs where id = ${id}`)

/**
 * Locks the org for a change, and the epoch of authority before it: every change of authority updates the
 * epoch first and the org second, so the other order could deadlock.
 */
export const lockOrg = async (db: Db, id: string): Promise<OrgSettingsRow | undefined> => {
  await db.execute(sql`select from auth_epoch for update`)
  return db.row<OrgSettingsRow>(sql`select ${settings} from orgs where id = ${id} for no key update`)
}

/** A trigger on the name makes every process read the identities of the org again. */
export const updateOrg = (db: Db, id: string, org: OrgDefaults & { name: string; logoVersion: string | null }) =>
  db.row<OrgSettingsRow>(sql`
    update orgs
    set name = ${org.name}, default_model = ${org.defaultModel}, default_time_zone = ${org.defaultTimeZone},
      default_language = ${org.defaultLanguage}, logo_version = ${org.logoVersion}, updated_at = now()
    where id = ${id}
    returning ${settings}`)

export interface OrgSummaryRow extends OrgRow {
  members: number
  workspaces: number
}

/** Oldest first. */
export const listOrgs = (db: Db) =>
  db.rows<OrgSummaryRow>(sql`
    -- all orgs: for commands of the operator
    select o.id, o.name, o.created_at, o.updated_at,
      (select count(*)::int from members m where m.org_id = o.id) as members,
      (select count(*)::int from workspaces w where w.org_id = o.id and w.deleted_at is null) as workspaces
    from orgs o
    order by o.id`)

export const hasOrgs = async (db: Db): Promise<boolean> => {
  const row = await db.row<{ any: boolean }>(sql`
    -- all orgs: the first start creates an org when there is none
    select exists (select from orgs) as any`)
  return row?.any ?? false
}

// The key of an advisory lock; must differ from that of migrations.
const firstStartLock = 7_203_116

/** Serializes the first start of concurrent processes until the transaction ends. */
export const lockFirstStart = (db: Db) => db.execute(sql`select pg_advisory_xact_lock(${firstStartLock})`)
