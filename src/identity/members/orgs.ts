import type { Transaction } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { systemActor } from '../actor.ts'
import { addKey } from '../api-keys/api-keys.ts'
import type { MintedKey } from '../api-keys/api-keys.ts'
import { audit } from '../audit/audit.ts'
import { addMember } from './members.ts'
import type { MemberRow } from './queries.ts'
import { cleanName } from '../names.ts'
import { insertOrg } from './org-queries.ts'
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
  const org = await insertOrg(db, newId(), cleanName(name))
  if (!org) throw new Error('the insert of the org returned no row')
  const actor = systemActor(org.id, madeBy)
  await audit(db, actor, 'org.created', { type: 'org', id: org.id, details: { name: org.name } })
  const workspace = await addWorkspace(db, actor, { name: 'Main', isDefault: true, userId: undefined })
  const member = await addMember(db, actor, { ...owner, role: 'owner' })
  const apiKey = await addKey(db, actor, { name: "Owner's first key", userId: member.userId }, key)
  return { org, workspace, member, apiKey }
}
