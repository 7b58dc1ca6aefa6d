import { createHash, randomBytes } from 'node:crypto'
import type { Db, Transaction } from '../../platform/database/database.ts'
import { lockPerson } from '../members/person-queries.ts'
import type { OrgScope } from './org-scope.ts'
import * as queries from './queries.ts'

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/**
 * A one-time sign-in link without a password, as the path to append to the origin. Valid for 24 hours; a new link for the
 * same orgs replaces it. The token follows `#`, so that it appears in no server log; only its hash is stored. `createdBy`
 * is the member who created it, null for the operator.
 */
export const createSignInLink = async (
  db: Transaction,
  userId: string,
  orgScope: OrgScope,
  createdBy: string | null = null,
): Promise<{ path: string; expiresAt: string }> => {
  const token = randomBytes(32).toString('base64url')
  const row = await queries.replaceSignInLink(db, { hash: hashOf(token), userId, orgScope, createdBy })
  if (!row) throw new Error('the insert of the sign-in link returned no row')
  return { path: `/sign-in#link=${token}`, expiresAt: row.expiresAt }
}

/** The org that the link opens, null when it opens none or several. Undefined when it is unknown, used or expired. */
export const findLinkOrg = (db: Db, token: string): Promise<{ org: queries.LinkOrgRow | null } | undefined> =>
  queries.findLinkOrg(db, hashOf(token))

/** The user and the org scope of the link, once. Undefined when it is unknown, used or expired. */
export const consumeSignInLink = async (
  db: Transaction,
  token: string,
): Promise<{ userId: string; orgScope: OrgScope } | undefined> => {
  const hash = hashOf(token)
  // The person before the link, as whoever replaces or withdraws links does.
  const found = await queries.findLinkUser(db, hash)
  if (found) await lockPerson(db, found.userId)
  return found && queries.consumeSignInLink(db, hash)
}
