import type { Db, DeferredInsert, Transaction } from '../../platform/database/database.ts'
import { deferEvent } from '../../outbox/record.ts'
import type { AnyEvent } from '../../outbox/record.ts'
import type { AuditActor, Origin } from '../actor.ts'
import type { OrgScope } from '../sign-in/org-scope.ts'
import * as queries from './queries.ts'

const auditLog: DeferredInsert<queries.NewEntry> = { insert: queries.insertEntries }

/** What an action was done to. `details` never contain a secret. */
export interface AuditedResource {
  /** The kind of resource, as its routes call it. */
  type: string
  id: string | null
  details?: Record<string, unknown>
  /** The event of the change. One statement stores both, which saves a round trip. See `recordEvent`. */
  event?: AnyEvent
}

/**
 * Writes an entry to the audit log in the transaction of the change, just before its commit, so that neither is stored
 * without the other.
 * `action` is the kind of resource and the event: `workspace.created`, `member.role-changed`.
 */
export const audit = async (
  db: Transaction,
  actor: AuditActor,
  action: string,
  { type, id, details = {}, event }: AuditedResource,
): Promise<void> => {
  db.defer(auditLog, { orgId: actor.orgId, actor, action, resourceType: type, resourceId: id, details })
  if (event) deferEvent(db, actor, event)
}

interface PersonEvent {
  origin: Origin | null
  details?: Record<string, unknown>
  /** The orgs that get an entry, of those that the person is a member of. Default: all. */
  orgScope?: OrgScope
}

/** Writes an entry about a change of a person's own sign-in to the audit log of every org in the scope. */
export const auditPerson = async (
  db: Transaction,
  userId: string,
  action: string,
  { origin, details = {}, orgScope = null }: PersonEvent,
): Promise<void> => {
  const event = { action, resourceType: 'user', resourceId: userId, details }
  await queries.insertPersonEntries(db, { userId, orgScope, origin, by: 'person' }, event)
}

/** Writes an entry about a failed sign-in, whose actor is unknown, to the audit log of every org in the scope. */
export const auditFailedSignIn = async (
  db: Db,
  userId: string,
  { origin, details = {}, orgScope = null }: PersonEvent,
): Promise<void> => {
  const event = { action: 'user.sign-in-failed', resourceType: 'user', resourceId: userId, details }
  await queries.insertPersonEntries(db, { userId, orgScope, origin, by: 'unknown' }, event)
}
