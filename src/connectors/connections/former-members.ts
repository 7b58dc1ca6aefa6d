import { systemActor } from '../../identity/actor.ts'
import type { AuditActor } from '../../identity/actor.ts'
import { formerMembersOf } from '../../identity/sign-in/user-authority.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { AttemptForOrg } from '../deps.ts'
import { revokeLocked } from './connections.ts'
import * as queries from './queries.ts'

/**
 * Revokes the connections of a person who leaves the org, in the transaction of the removal: nobody else can see or end
 * them, while their endpoints would go on receiving private messages.
 */
export const revokeConnectionsOf = async (
  db: Transaction,
  jobs: Pick<Jobs, 'enqueue'>,
  by: AuditActor,
  userId: string,
): Promise<void> => {
  for (const connection of await queries.lockConnectionsOf(db, by.orgId, userId)) {
    await revokeLocked(db, jobs, by, { connection, startAfterSeconds: 0 })
  }
}

const page = 1_000

/**
 * Revokes the connections of people who are not members any more: those of removals by a process of an earlier version,
 * and those that a request of the person began while the removal was committed.
 */
export const revokeOfFormerMembers = async (
  db: Database,
  jobs: Pick<Jobs, 'enqueue'>,
  attempt: AttemptForOrg,
): Promise<void> => {
  let owners: queries.ConnectionOwner[] = []
  do {
    owners = await queries.listOwners(db, page, owners.at(-1))
    if (owners.length === 0) return
    for (const { orgId, userId } of await formerMembersOf(db, owners)) {
      const by = systemActor(orgId, 'Atrium')
      await attempt(orgId, () => db.transaction({ orgId }, (db) => revokeConnectionsOf(db, jobs, by, userId)))
    }
  } while (owners.length === page)
}
