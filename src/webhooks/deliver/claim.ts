import type { Database } from '../../platform/database/database.ts'
import * as laneQueries from './lane-queries.ts'
import type { DeliveryLane } from './lane-queries.ts'
import * as queries from './queue-queries.ts'
import type { ClaimedRow, DeliveryClaim } from './queue-queries.ts'

/** The queue's statements span all orgs, because that is one statement for any number of them, or name one org each. */

/** Up to `limit` lanes with webhook ids above `after`, in ascending order; fewer mean that there are no more. */
export const listLanes = async (
  db: Pick<Database, 'indexed' | 'isDistributed'>,
  after: string,
  limit: number,
): Promise<(DeliveryLane & { isDue: boolean })[]> => {
  if (!(await db.isDistributed())) return laneQueries.listLanes(db.indexed, after, limit)
  const lanes = await Promise.all([
    laneQueries.listDueLanes(db.indexed, after, limit),
    laneQueries.listDueEndpointLanes(db.indexed, after, limit),
    laneQueries.listDueTaskLanes(db.indexed, after, limit),
  ])
  return lanes
    .flat()
    .toSorted((a, b) => (a.webhookId < b.webhookId ? -1 : 1))
    .slice(0, limit)
}

/** The same items, beginning with a random one, so that none is always the last. */
const rotated = <Item>(items: Item[]): Item[] => {
  const first = Math.floor(Math.random() * items.length)
  return [...items.slice(first), ...items.slice(0, first)]
}

/**
 * Claims due deliveries of these lanes. When the statement of an org fails, the deliveries of other orgs are returned; it
 * throws when none were claimed.
 */
export const claimDeliveries = async (
  db: Pick<Database, 'indexed' | 'isDistributed'>,
  claim: DeliveryClaim,
): Promise<ClaimedRow[]> => {
  if (!(await db.isDistributed())) return queries.claimDeliveries(db.indexed, claim)
  const orgs = rotated([...Map.groupBy(claim.lanes, (lane) => lane.orgId)])
  const claimed: ClaimedRow[] = []
  const errors: unknown[] = []
  for (const [index, [orgId, lanes]] of orgs.entries()) {
    const left = claim.slots - claimed.length
    if (left === 0) break
    // An equal share of what is left for each org that follows: the first one cannot take everything.
    const slots = Math.ceil(left / (orgs.length - index))
    try {
      claimed.push(...(await queries.claimDeliveries(db.indexed, { ...claim, lanes, slots }, orgId)))
    } catch (error) {
      errors.push(error)
    }
  }
  if (claimed.length === 0 && errors.length > 0) throw errors[0]
  return claimed
}
