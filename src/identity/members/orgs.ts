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
  /** The owner's first key, new and well-formed. */
  key: string
  /** By whom it is made, for the audit log. */
  madeBy: string
}

/** An org as it begins: one default workspace, one owner with one key. */
export const createOrg = async (
  db: Transaction,
  { name, owner, key, madeBy }: NewOrg,
): Promise<{ org: OrgRow; workspace: WorkspaceRow; member: MemberRow; apiKey: MintedKey }> => {
  const org = await insertOrg(db, newId(), cleanName(name))
  if (!org) throw new Error('the database did not answer with the org it stored')
  const actor = systemActor(org.id, madeBy)
  await audit(db, actor, 'org.created', { type: 'org', id: org.id }, { name: org.name })
  const workspace = await addWorkspace(db, actor, { name: 'Main', isDefault: true, userId: undefined })
  const member = await addMember(db, actor, { ...owner, role: 'owner' })
  const apiKey = await addKey(db, actor, { name: "Owner's first key", userId: member.userId }, key)
  return { org, workspace, member, apiKey }
}
