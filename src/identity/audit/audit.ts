import type { Db, Transaction } from '../../platform/database/database.ts'
import type { AuditActor, Origin } from '../actor.ts'
import * as queries from './queries.ts'
import type { Reach } from '../sign-in/reach.ts'

/**
 * Writes down who did what to what. It takes the transaction of the change itself, so that neither can be there
 * without the other. `action` is the kind of thing and what happened to it (`workspace.created`,
 * `member.role-changed`), `resource.type` the kind as its routes call it; `details` say what is worth knowing about it
 * and never hold a secret.
 */
export const audit = async (
  db: Transaction,
  actor: AuditActor,
  action: string,
  resource: { type: string; id: string | null },
  details: Record<string, unknown> = {},
): Promise<void> => {
  await queries.insertEntry(db, actor, { action, resourceType: resource.type, resourceId: resource.id, details })
}

/** The same for what a person does to their own sign-in: every org that they belong to, and that it opens, is told. */
export const auditPerson = async (
  db: Transaction,
  userId: string,
  action: string,
  origin: Origin | null,
  details: Record<string, unknown> = {},
  reach: Reach = null,
): Promise<void> => {
  const happening = { action, resourceType: 'user', resourceId: userId, details }
  await queries.insertPersonEntries(db, userId, happening, origin, reach)
}

/** An attempt at somebody's sign-in, in the orgs that it would have opened. By whom is not known. */
export const auditFailure = async (
  db: Db,
  userId: string,
  action: string,
  origin: Origin | null,
  details: Record<string, unknown>,
  reach: Reach,
): Promise<void> => {
  const happening = { action, resourceType: 'user', resourceId: userId, details }
  await queries.insertPersonEntries(db, userId, happening, origin, reach, 'unknown')
}
