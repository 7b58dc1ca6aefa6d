import type { Db, Transaction } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { systemActor } from '../actor.ts'
import type { AuditActor } from '../actor.ts'
import { addKey } from '../api-keys/api-keys.ts'
import type { MintedKey } from '../api-keys/api-keys.ts'
import { audit } from '../audit/audit.ts'
import { recordOrg } from './events.ts'
import { addMember } from './members.ts'
import type { MemberRow } from './queries.ts'
import { cleanName } from '../names.ts'
import * as queries from './org-queries.ts'
import type { OrgDefaults, OrgRow, OrgSettingsRow } from './org-queries.ts'
import { bumpAuthority } from './queries.ts'
import type { WorkspaceRow } from './workspace-queries.ts'
import { addWorkspace } from './workspaces.ts'

export interface NewOrg {
  name: string
  owner: { email: string; name?: string | undefined }
  /** The owner's first API key, in plain text. */
  key: string
  /** The actor in the audit log. */
  madeBy: string
}

/** Creates an org with a default workspace and an owner with an API key. */
export const createOrg = async (
  db: Transaction,
  { name, owner, key, madeBy }: NewOrg,
): Promise<{ org: OrgRow; workspace: WorkspaceRow; member: MemberRow; apiKey: MintedKey }> => {
  const org = await queries.insertOrg(db, newId(), cleanName(name))
  if (!org) throw new Error('the insert of the org returned no row')
  const actor = systemActor(org.id, madeBy)
  await audit(db, actor, 'org.created', { type: 'org', id: org.id, details: { name: org.name } })
  const workspace = await addWorkspace(db, actor, { name: 'Main', isDefault: true, userId: undefined })
  const member = await addMember(db, actor, { ...owner, role: 'owner' })
  const apiKey = await addKey(db, actor, { name: "Owner's first key", userId: member.userId }, key)
  return { org, workspace, member, apiKey }
}

export const getOrg = async (db: Db, id: string): Promise<OrgSettingsRow> => {
  const org = await queries.findOrg(db, id)
  if (!org) throw notFound('Org')
  return org
}

/** Locks the org for a change. Throws NOT_FOUND. */
export const lockOrg = async (db: Transaction, id: string): Promise<OrgSettingsRow> => {
  const org = await queries.lockOrg(db, id)
  if (!org) throw notFound('Org')
  return org
}

/** Stores a locked org. */
export const storeOrg = async (db: Transaction, org: OrgSettingsRow): Promise<OrgSettingsRow> => {
  const stored = await queries.updateOrg(db, org.id, org)
  if (!stored) throw new Error('the update of the org returned no row')
  return stored
}

/** The name of a time zone of the IANA database. BAD_REQUEST for another text, such as an offset. */
const cleanTimeZone = (name: string): string => {
  try {
    if (/^[A-Za-z]/.test(name)) return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    // Unknown to the time zone database.
  }
  throw badRequest('defaultTimeZone must be a name of the IANA time zone database, such as Europe/Berlin')
}

const defaultFields = ['defaultModel', 'defaultTimeZone', 'defaultLanguage'] as const

export type OrgChange = Partial<OrgDefaults> & { name?: string | undefined }

/**
 * Changes the name and the defaults of the org of the actor. BAD_REQUEST for an invalid name, an unknown time zone, and a
 * model for which `isModel` is false.
 */
export const updateOrg = async (
  db: Transaction,
  actor: AuditActor,
  { name, defaultModel, defaultTimeZone, defaultLanguage }: OrgChange,
  isModel: (id: string) => boolean,
): Promise<OrgSettingsRow> => {
  const { orgId } = actor
  if (defaultModel != null && !isModel(defaultModel)) {
    throw badRequest('defaultModel must be the id of a model from GET /models that is not an embedding model')
  }
  // Field by field: any other field of a request, such as an id, must not reach the stored org.
  const wanted = {
    ...(defaultLanguage === undefined ? {} : { defaultLanguage }),
    ...(name === undefined ? {} : { name: cleanName(name) }),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(defaultTimeZone === undefined
      ? {}
      : { defaultTimeZone: defaultTimeZone === null ? null : cleanTimeZone(defaultTimeZone) }),
  }
  const before = await lockOrg(db, orgId)
  const after = { ...before, ...wanted }
  const changedDefaults = defaultFields.filter((field) => after[field] !== before[field])
  const isRenamed = after.name !== before.name
  if (!isRenamed && changedDefaults.length === 0) return before
  const stored = await storeOrg(db, after)
  if (isRenamed) {
    const details = { from: before.name, to: after.name }
    await audit(db, actor, 'org.renamed', { type: 'org', id: orgId, details })
  }
  if (changedDefaults.length > 0) {
    // The time zone is part of the identities that processes remember.
    await bumpAuthority(db, orgId)
    const details = Object.fromEntries(changedDefaults.map((field) => [field, after[field]]))
    await audit(db, actor, 'org.defaults-updated', { type: 'org', id: orgId, details })
  }
  await recordOrg(db, actor, { orgId, name: after.name, changed: [...(isRenamed ? ['name'] : []), ...changedDefaults] })
  return stored
}
