import type { Transaction } from '../platform/database.ts'
import { newId } from '../platform/ids.ts'
import * as queries from './person-queries.ts'

// Loaded with the first password: requests by key never need it.
const library = () => import('better-auth/crypto')

export const hashPassword = async (password: string): Promise<string> => (await library()).hashPassword(password)

/** Takes as long for a person without a password, or for nobody, as for a wrong password. */
export const isPassword = async (password: string, hash: string | null | undefined): Promise<boolean> => {
  const { hashPassword, verifyPassword } = await library()
  if (hash) return verifyPassword({ hash, password })
  await hashPassword(password)
  return false
}

/** Sets the password by its hash, for all orgs of the person, and ends whatever the old one had opened: all sessions and step-up tokens. */
export const setPassword = async (db: Transaction, userId: string, hash: string): Promise<void> => {
  await queries.upsertPassword(db, newId(), userId, hash)
  await queries.deleteSessions(db, userId)
  await queries.deleteStepUpTokens(db, userId)
}
