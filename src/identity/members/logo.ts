import { createHash } from 'node:crypto'
import type { Database, Db } from '../../platform/database/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { AuditActor } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import { recordOrg } from './events.ts'
import * as queries from './logo-queries.ts'
import type { Logo, LogoRow } from './logo-queries.ts'
import type { OrgSettingsRow } from './org-queries.ts'
import { lockOrg, storeOrg } from './orgs.ts'

/**
 * Decodes a picture of a stranger in a process of its own, and makes the sizes of a logo. Throws BAD_REQUEST for another
 * file.
 */
export type MakeLogo = (picture: Buffer, orgId: string, signal: AbortSignal) => Promise<Logo>

/** The path of a logo, whose bytes never change. Null without a logo. */
export const logoPath = (orgId: string, version: string | null): string | null =>
  version === null ? null : `/logos/${orgId}/${version}`

const versionOf = ({ large }: Logo): string => createHash('sha256').update(large).digest('hex').slice(0, 32)

/** Sets the logo of the org of the actor. The same one again changes nothing. */
export const setLogo = (db: Database, actor: AuditActor, logo: Logo): Promise<OrgSettingsRow> =>
  db.transaction({ orgId: actor.orgId }, async (db) => {
    const { orgId } = actor
    const version = versionOf(logo)
    const before = await lockOrg(db, orgId)
    if (before.logoVersion === version) return before
    await queries.upsertLogo(db, orgId, { ...logo, version })
    const stored = await storeOrg(db, { ...before, logoVersion: version })
    await audit(db, actor, 'org.logo-changed', { type: 'org', id: orgId, details: {} })
    await recordOrg(db, actor, { orgId, name: stored.name, changed: ['logo'] })
    return stored
  })

/** Throws NOT_FOUND when the org has no logo. */
export const removeLogo = (db: Database, actor: AuditActor): Promise<OrgSettingsRow> =>
  db.transaction({ orgId: actor.orgId }, async (db) => {
    const { orgId } = actor
    const before = await lockOrg(db, orgId)
    if (before.logoVersion === null) throw notFound('Logo')
    await queries.deleteLogo(db, orgId)
    const stored = await storeOrg(db, { ...before, logoVersion: null })
    await audit(db, actor, 'org.logo-removed', { type: 'org', id: orgId, details: {} })
    await recordOrg(db, actor, { orgId, name: stored.name, changed: ['logo'] })
    return stored
  })

/** The logo of an org. Throws NOT_FOUND without one, and for another `version`. */
export const getLogo = async (db: Db, orgId: string, version?: string): Promise<LogoRow> => {
  const logo = await queries.findLogo(db, orgId)
  if (!logo || (version !== undefined && version !== logo.version)) throw notFound('Logo')
  return logo
}
