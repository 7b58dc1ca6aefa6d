import { createHash, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Db, Transaction } from '../../../platform/database/database.ts'
import { forbidden } from '../../../platform/http/errors.ts'
import type { OrgScope } from '../org-scope.ts'
import * as queries from './queries.ts'

const needed = forbidden(
  'This needs step-up authentication: call POST /auth/step-up and send its token as X-Step-Up-Token.',
)

interface StepUpSubject {
  orgId: string
  userId: string
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export const stepUpTokenOf = (request: FastifyRequest): string | undefined => {
  const header = request.headers['x-step-up-token']
  return typeof header === 'string' ? header : undefined
}

/** Whether the token is the caller's own, valid in this org and not expired. */
export const isSteppedUp = async (db: Db, actor: StepUpSubject, token: string | undefined): Promise<boolean> =>
  token !== undefined && queries.isStepUpToken(db, hashOf(token), actor.userId, actor.orgId)

/** Throws FORBIDDEN without a valid step-up token. */
export const requireStepUp = async (db: Db, actor: StepUpSubject, token: string | undefined): Promise<void> => {
  if (!(await isSteppedUp(db, actor, token))) throw needed
}

/** A step-up token with the scope of the proof, valid for 10 minutes or until the password changes. Only its hash is stored. */
export const issueStepUpToken = async (
  db: Transaction,
  userId: string,
  orgScope: OrgScope,
): Promise<{ token: string; expiresAt: string }> => {
  const token = `sut_${randomBytes(32).toString('base64url')}`
  const row = await queries.insertStepUpToken(db, hashOf(token), userId, orgScope)
  if (!row) throw new Error('the insert of the step-up token returned no row')
  return { token, expiresAt: row.expiresAt }
}
