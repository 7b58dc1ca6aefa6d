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
import { requireStepUp } from '../sign-in/second-factor/step-up.ts'

export interface KeyWishes {
  name: string
  workspaceId?: string | null | undefined
  scopes?: readonly string[] | undefined
  /** ISO 8601 */
  expiresAt?: string | null | undefined
}

/** The record with the key itself, which nobody can tell again. */
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

/** A key narrowed by scopes cannot make one that may do more, whatever its user may do. */
const checkScopes = (actor: Actor, scopes: readonly string[]): void => {
  const own = actor.apiKey?.scopes ?? []
  if (own.length === 0) return
  // As an owner, so that what the scopes say is compared and not what the role leaves of it today.
  const allowed = effectivePermissions('owner', own)
  const wanted = effectivePermissions('owner', scopes)
  if ([...wanted].some((permission) => !allowed.has(permission))) {
    throw forbidden('A key cannot make one that may do more than itself: name scopes that it has.')
  }
}

/** Stores a new key of the user. `key` is given only for the first owner's, which the environment may name. */
export const addKey = async (
  db: Transaction,
  actor: AuditActor,
  wishes: KeyWishes & { userId: string },
  key: string,
): Promise<MintedKey> => {
  const scopes = cleanScopes(wishes.scopes ?? [])
  const expiresAt = wishes.expiresAt ?? null
  checkExpiry(expiresAt)
  const row = await queries.insertKey(db, actor.orgId, {
    id: newId(),
    userId: wishes.userId,
    workspaceId: wishes.workspaceId ?? null,
    name: cleanName(wishes.name),
    prefix: key.slice(0, key.lastIndexOf('_') + 1),
    last4: key.slice(-4),
    hash: hashKey(key),
    scopes,
    expiresAt,
  })
  if (!row) throw new Error('the database did not answer with the key it stored')
  const { name, userId } = row
  await audit(db, actor, 'api-key.created', { type: 'api-key', id: row.id }, { name, userId, scopes, expiresAt })
  return { ...row, key }
}

/** A key of the caller's own. Needs step-up. */
export const mintKey = (
  db: Database,
  actor: Actor,
  wishes: KeyWishes,
  { stepUpToken, environment }: { stepUpToken: string | undefined; environment: KeyEnvironment },
): Promise<MintedKey> =>
  db.transaction(actor, async (db) => {
    await requireStepUp(db, actor, stepUpToken)
    checkScopes(actor, wishes.scopes ?? [])
    if (typeof wishes.workspaceId === 'string') {
      const access = await findWorkspaceAccess(db, actor.orgId, actor.userId, wishes.workspaceId)
      if (!access || !(access.isMember || seesAllWorkspaces(actor.role))) throw notFound('Workspace')
    }
    return addKey(db, actor, { ...wishes, userId: actor.userId }, generateKey(environment))
  })

/** Ends a key: the caller's own, or, for owners and admins, any of the org. Again is fine and changes nothing. */
export const revokeKey = (db: Database, actor: Actor, id: string): Promise<void> =>
  db.transaction(actor, async (db) => {
    const key = await queries.lockKey(db, actor, id)
    if (!key) throw notFound('API key')
    if (key.revokedAt !== null) return
    await queries.revokeKey(db, actor.orgId, id)
    await audit(db, actor, 'api-key.revoked', { type: 'api-key', id }, { name: key.name, userId: key.userId })
  })
