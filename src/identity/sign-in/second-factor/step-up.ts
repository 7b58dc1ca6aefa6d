import { createHash, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Db, Transaction } from '../../../platform/database/database.ts'
import { forbidden } from '../../../platform/http/errors.ts'
import * as queries from '../../members/person-queries.ts'
import type { Reach } from '../reach.ts'

const needed = forbidden(
  'This needs step-up authentication: prove that it is you with POST /auth/step-up and send its token as X-Step-Up-Token.',
)

interface Stepping {
  orgId: string
  userId: string
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export const stepUpTokenOf = (request: FastifyRequest): string | undefined => {
  const header = request.headers['x-step-up-token']
  return typeof header === 'string' ? header : undefined
}

/** Whether the token is the caller's own, good in this org, and its ten minutes are not over. */
export const isSteppedUp = async (db: Db, actor: Stepping, token: string | undefined): Promise<boolean> =>
  token !== undefined && queries.isStepUpToken(db, hashOf(token), actor.userId, actor.orgId)

/** FORBIDDEN unless the caller has just proved to be the person that the key or the session belongs to. */
export const requireStepUp = async (db: Db, actor: Stepping, token: string | undefined): Promise<void> => {
  if (!(await isSteppedUp(db, actor, token))) throw needed
}

/** A token for the person, good where what they proved is, for ten minutes and until their password changes. Only its hash is stored. */
export const issueStepUpToken = async (
  db: Transaction,
  userId: string,
  reach: Reach,
): Promise<{ token: string; expiresAt: string }> => {
  const token = `sut_${randomBytes(32).toString('base64url')}`
  const row = await queries.insertStepUpToken(db, hashOf(token), userId, reach)
  if (!row) throw new Error('the database did not answer with the token it stored')
  return { token, expiresAt: row.expiresAt }
}
