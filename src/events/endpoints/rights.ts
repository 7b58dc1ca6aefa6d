import { standingsOf } from '../../identity/sign-in/user-authority.ts'
import type { Principal } from '../../identity/sign-in/user-authority.ts'
import type { Db } from '../../platform/database/database.ts'
import { visibilityOfStanding } from '../visibility.ts'
import type { Visibility } from '../visibility.ts'

/** Why nothing is delivered to an endpoint whose URL was set by someone without rights. */
export const lostRights =
  'The person who set the URL has left the org, or their API key was revoked or has expired. Set the URL again to deliver with your rights.'

const keyOf = ({ userId, apiKeyId, scopes }: Principal): string => JSON.stringify([userId, apiKeyId, scopes])

/** What the owners of endpoints may read now. Undefined for an owner who left the org or whose key is not live. */
export const visibilitiesOf = async <P extends Principal>(
  db: Db,
  orgId: string,
  owners: readonly P[],
): Promise<(owner: P) => Visibility | undefined> => {
  const distinct = [...new Map(owners.map((owner) => [keyOf(owner), owner]))]
  const standings = await standingsOf(
    db,
    orgId,
    distinct.map(([, owner]) => owner),
  )
  const byKey = new Map(
    distinct.map(([key], index) => [key, standings[index] && visibilityOfStanding(orgId, standings[index])]),
  )
  return (owner) => byKey.get(keyOf(owner))
}

/** Reads the rights of an owner. Questions at the same time about the same owner share a statement. */
export const createRightsReader = (db: Db) => {
  const reading = new Map<string, Promise<Visibility | undefined>>()
  return (orgId: string, owner: Principal): Promise<Visibility | undefined> => {
    const key = `${orgId} ${keyOf(owner)}`
    let read = reading.get(key)
    if (!read) {
      read = visibilitiesOf(db, orgId, [owner])
        .then((of) => of(owner))
        .finally(() => reading.delete(key))
      reading.set(key, read)
    }
    return read
  }
}
