import type { Database, Transaction } from '../../platform/database/database.ts'
import { badRequest, forbidden, notFound, validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { generateKey, hashKey } from '../../platform/key-format.ts'
import type { KeyEnvironment } from '../../platform/key-format.ts'
import type { Actor, AuditActor } from '../actor.ts'
import * as queries from './queries.ts'
import type { ApiKeyRow } from './queries.ts'
import { audit } from '../audit/audit.ts'
import { cleanName } from '../names.ts'
import { effectivePermissions, isScope, seesAllWorkspaces } from '../permissions.ts'
import { findWorkspaceAccess } from '../queries.ts'
import { recordEvent } from '../../outbox/record.ts'
import { requireStepUp } from '../sign-in/second-factor/step-up.ts'

export interface NewApiKey {
  name: string
  workspaceId?: string | null | undefined
  scopes?: readonly string[] | undefined
  /** ISO 8601 */
  expiresAt?: string | null | undefined
}

/** The record and the key in plain text, which is not stored. */
export type MintedKey = ApiKeyRow & { key: string }

const cleanScopes = (scopes: readonly string[]): string[] => {
  const clean = [...new Set(scopes.map((scope) => scope.trim()))]
  const unknown = clean.find((scope) => !isScope(scope))
  if (unknown !== undefined) throw badRequest(`scopes: ${JSON.stringify(unknown)} is not a scope`)
  return clean
}

const checkExpiry = (expiresAt: string | null): void => {
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) {
    throw validationError('expiresAt must be in the future')
  }
}

/** A key with scopes cannot create a key with more permissions, whatever its user may do. */
const checkScopes = (actor: Actor, scopes: readonly string[]): void => {
  const own = actor.apiKey?.scopes ?? []
  if (own.length === 0) return
  // Compared with the owner's permissions, because the role of the user may change later.
  const allowed = effectivePermissions('owner', own)
  const wanted = effectivePermissions('owner', scopes)
  if ([...wanted].some((permission) => !allowed.has(permission))) {
    throw forbidden('scopes must not exceed those of the API key that creates the key.')
  }
}

/** The subject and the data of an event. */
const keyEvent = ({ id, name, last4, userId }: ApiKeyRow) => ({
  subjectId: id,
  workspaceId: null,
  ownerId: userId,
  data: { apiKeyId: id, name, last4, userId },
})

/** Records in the audit log and as an event that a key was revoked. */
export const recordRevoked = async (db: Transaction, actor: AuditActor, key: ApiKeyRow): Promise<void> => {
  const { id, name, userId } = key
  await audit(db, actor, 'api-key.revoked', { type: 'api-key', id, details: { name, userId } })
  await recordEvent(db, actor, 'api_key.revoked', keyEvent(key))
}

/** Stores an API key of the user; `key` is the plain text. */
export const addKey = async (
  db: Transaction,
  actor: AuditActor,
  input: NewApiKey & { userId: string },
  key: string,
): Promise<MintedKey> => {
  const scopes = cleanScopes(input.scopes ?? [])
  const expiresAt = input.expiresAt ?? null
  checkExpiry(expiresAt)
  const row = await queries.insertKey(db, actor.orgId, {
    id: newId(),
    userId: input.userId,
    workspaceId: input.workspaceId ?? null,
    name: cleanName(input.name),
    prefix: key.slice(0, key.lastIndexOf('_') + 1),
    last4: key.slice(-4),
    hash: hashKey(key),
    scopes,
    expiresAt,
  })
  if (!row) throw new Error('the insert of the API key returned no row')
  const { name, userId } = row
  await audit(db, actor, 'api-key.created', {
    type: 'api-key',
    id: row.id,
    details: { name, userId, scopes, expiresAt },
  })
  await recordEvent(db, actor, 'api_key.created', keyEvent(row))
  return { ...row, key }
}

/** Creates an API key for the caller. Needs step-up. */
export const mintKey = (
  db: Database,
  actor: Actor,
  input: NewApiKey,
  { stepUpToken, environment }: { stepUpToken: string | undefined; environment: KeyEnvironment },
): Promise<MintedKey> =>
  db.transaction(actor, async (db) => {
    await requireStepUp(db, actor, stepUpToken)
    checkScopes(actor, input.scopes ?? [])
    if (typeof input.workspaceId === 'string') {
      const access = await findWorkspaceAccess(db, actor.orgId, actor.userId, input.workspaceId)
      if (!access || !(access.isMember || seesAllWorkspaces(actor.role))) throw notFound('Workspace')
    }
    return addKey(db, actor, { ...input, userId: actor.userId }, generateKey(environment))
  })

/** Revokes a key of the caller or, for owners and admins, any key of the org. Revoking it again changes nothing. */
export const revokeKey = (db: Database, actor: Actor, id: string): Promise<void> =>
  db.transaction(actor, async (db) => {
    const key = await queries.lockKey(db, actor, id)
    if (!key) throw notFound('API key')
    if (key.revokedAt !== null) return
    await queries.revokeKey(db, actor.orgId, id)
    await recordRevoked(db, actor, key)
  })
