import type { Db, Transaction } from '../../platform/database/database.ts'
import { notFound } from '../../platform/http/errors.ts'
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
import type { OrgRow } from './org-queries.ts'
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

export const getOrg = async (db: Db, id: string): Promise<OrgRow> => {
  const org = await queries.findOrg(db, id)
  if (!org) throw notFound('Org')
  return org
}

/** Renames the org of the actor. BAD_REQUEST for an invalid name. */
export const renameOrg = async (db: Transaction, actor: AuditActor, wanted: string): Promise<OrgRow> => {
  const { orgId } = actor
  const name = cleanName(wanted)
  const org = await queries.lockOrg(db, orgId)
  if (!org) throw notFound('Org')
  if (name === org.name) return org
  const renamed = await queries.renameOrg(db, orgId, name)
  if (!renamed) throw notFound('Org')
  await audit(db, actor, 'org.renamed', { type: 'org', id: orgId, details: { from: org.name, to: name } })
  await recordOrg(db, actor, { orgId, name, changed: ['name'] })
  return renamed
}
