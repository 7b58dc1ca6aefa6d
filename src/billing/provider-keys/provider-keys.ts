import { createHash } from 'node:crypto'
import type { BillingConfig } from '../../config/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { defineSealedColumn } from '../../platform/encryption/reencrypt.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import * as queries from './queries.ts'

export const keyProviders = [
  'openai',
  'anthropic',
  'google',
  'openrouter',
  'mistral',
  'groq',
  'xai',
  'deepseek',
] as const
export type KeyProvider = (typeof keyProviders)[number]

export const providerKeyColumn = defineSealedColumn('provider_keys', 'sealed_key')

/** BAD_REQUEST while the installation takes no keys. It comes before anything is said about the body. */
export const requireKeysTaken = ({ takesProviderKeys }: Pick<BillingConfig, 'takesProviderKeys'>): void => {
  if (!takesProviderKeys) throw badRequest('Provider keys cannot be set up on this server.')
}

// Enough to tell keys apart, and nothing of the key itself.
const fingerprintOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16)

export const addProviderKey = (
  db: Database,
  sealer: Sealer,
  actor: Actor,
  body: { provider: KeyProvider; key: string; label?: string | null },
) =>
  db.transaction(actor, async (db) => {
    const id = newId()
    const { provider, key } = body
    const stored = await queries.insertKey(db, actor.orgId, {
      id,
      provider,
      label: body.label ?? null,
      fingerprint: fingerprintOf(key),
      sealedKey: sealer.seal(key, providerKeyColumn.at(actor.orgId, id)),
      createdBy: actor.userId,
    })
    if (!stored) throw new Error('the database did not keep the provider key')
    const { fingerprint } = stored
    await audit(db, actor, 'billing.provider-key-added', { type: 'provider-key', id }, { provider, fingerprint })
    return stored
  })

/** Newest first. */
export const listProviderKeys = async (db: Db, actor: Actor, limit: number, cursor: string | undefined) => {
  const position = cursor === undefined ? undefined : decodeCursor(cursor, ['timestamp', 'uuid'])
  const before = position && { createdAt: position[0], id: position[1] }
  const found = await queries.listKeys(db, actor.orgId, limit + 1, before)
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: found.length > limit && last ? encodeCursor([last.createdAtExactly, last.id]) : null }
}

export const removeProviderKey = (db: Database, actor: Actor, id: string): Promise<void> =>
  db.transaction(actor, async (db) => {
    const removed = await queries.deleteKey(db, actor.orgId, id)
    if (!removed) throw notFound('Provider key')
    const { provider, fingerprint } = removed
    await audit(db, actor, 'billing.provider-key-removed', { type: 'provider-key', id }, { provider, fingerprint })
  })

/** The org's own key for a provider, when it has one and the installation takes them. */
export const findProviderKey = async (
  db: Db,
  config: Pick<BillingConfig, 'takesProviderKeys'>,
  orgId: string,
  provider: string,
): Promise<string | null> =>
  config.takesProviderKeys ? ((await queries.findKeyOf(db, orgId, provider))?.id ?? null) : null

/** The key itself, for a call of its provider. Undefined when it was removed. */
export const openProviderKey = async (
  db: Db,
  sealer: Sealer,
  orgId: string,
  id: string,
): Promise<string | undefined> => {
  const row = await queries.findSealed(db, orgId, id)
  return row && sealer.open(row.sealedKey, providerKeyColumn.at(orgId, id))
}
