import { createHash, randomBytes } from 'node:crypto'
import type { Transaction } from '../../platform/database/database.ts'
import * as queries from '../members/person-queries.ts'
import type { Reach } from './reach.ts'

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/**
 * A one-time link by which a person signs in without a password, as the path that follows the origin; good for 24
 * hours, and the last one made for these orgs is the only one. The token stands behind `#`, so that it reaches no server log; only its
 * hash is stored.
 */
export const createSignInLink = async (
  db: Transaction,
  userId: string,
  reach: Reach,
): Promise<{ path: string; expiresAt: string }> => {
  const token = randomBytes(32).toString('base64url')
  const row = await queries.replaceSignInLink(db, hashOf(token), userId, reach)
  if (!row) throw new Error('the database did not answer with the link it stored')
  return { path: `/sign-in#link=${token}`, expiresAt: row.expiresAt }
}

/** The user whom the token lets in, once, and where to. Undefined when it is unknown, used or expired. */
export const consumeSignInLink = (
  db: Transaction,
  token: string,
): Promise<{ userId: string; reach: Reach } | undefined> => queries.consumeSignInLink(db, hashOf(token))
