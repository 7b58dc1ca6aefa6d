import { systemActor } from '../identity/actor.ts'
import type { Database } from '../platform/database/database.ts'
import { dropExpired } from '../platform/database/partitions.ts'
import { firstId } from '../platform/ids.ts'
import { lockSession } from './queries.ts'
import * as queries from './retention-queries.ts'
import { cancelLockedTurn } from './turns/cancel.ts'
import type { TurnDeps } from './turns/deps.ts'

interface RetentionDeps {
  db: Database
  jobs: Pick<TurnDeps['jobs'], 'enqueue'>
  notifier: TurnDeps['notifier']
}

const orgsAtOnce = 500
/** Read in about 50 ms. */
const turnsToRead = 10_000
const turnsToDelete = 2_000

const forEachOrg = async (db: Database, signal: AbortSignal, work: (orgId: string) => Promise<void>): Promise<void> => {
  for (let after: string | undefined = firstId; after !== undefined;) {
    const orgs: { id: string }[] = await queries.listOrgIds(db, after, orgsAtOnce)
    for (const { id } of orgs) {
      signal.throwIfAborted()
      await work(id)
    }
    after = orgs.at(-1)?.id
  }
}

const cancelOldTurns = async ({ db, ...deps }: RetentionDeps, orgId: string, before: string): Promise<void> => {
  for (let after: string | undefined = firstId; after !== undefined;) {
    const turns: queries.OldTurn[] = await queries.listOldTurns(db, orgId, { before, after, limit: turnsToRead })
    // Newest first: the end of a turn starts the next queued one.
    for (const { id, sessionId, isUnfinished } of turns.toReversed()) {
      if (!isUnfinished) continue
      await db.transaction({ orgId }, async (db) => {
        const session = await lockSession(db, orgId, sessionId)
        if (!session) return
        const scope = { author: systemActor(orgId, 'Retention'), workspaceId: session.workspaceId }
        await cancelLockedTurn(db, deps, scope, id)
      })
    }
    after = turns.at(-1)?.id
  }
}

/**
 * Drops the months of messages, model calls and tool calls of which everything is older than `days` days, and deletes the
 * turns of these months. A turn that began in one of them and has not ended, because it waits for a person, is cancelled
 * first: it could not continue without its calls. Sessions stay, and their next message and turn have the next numbers.
 * Can be interrupted and repeated at any point: turns are deleted only where nothing is left of the other tables.
 */
export const dropOldMessages = async (deps: RetentionDeps, days: number, signal: AbortSignal): Promise<void> => {
  const { db } = deps
  let cancelledBefore: string | undefined
  const beforeDetach = async (endsAt: string): Promise<void> => {
    if (endsAt === cancelledBefore) return
    await forEachOrg(db, signal, (orgId) => cancelOldTurns(deps, orgId, endsAt))
    cancelledBefore = endsAt
  }
  for (const table of ['messages', 'turn_steps', 'tool_calls']) {
    signal.throwIfAborted()
    await dropExpired(db, table, { days, beforeDetach, coversPast: true })
  }
  const firstKept = await queries.findFirstKept(db)
  if (firstKept === undefined) return
  await forEachOrg(db, signal, async (orgId) => {
    await queries.deleteChains(db, orgId, firstKept)
    do signal.throwIfAborted()
    while ((await queries.deleteTurns(db, orgId, firstKept, turnsToDelete)) === turnsToDelete)
  })
}
