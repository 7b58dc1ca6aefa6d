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

/** BAD_REQUEST when the installation does not accept provider keys. Checked before the body is validated. */
export const requireProviderKeysEnabled = ({ takesProviderKeys }: Pick<BillingConfig, 'takesProviderKeys'>): void => {
  if (!takesProviderKeys) throw badRequest('Provider keys cannot be set up on this server.')
}

// 64 bits of a hash: enough to tell keys apart, and no part of the key.
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
    if (!stored) throw new Error('the insert of the provider key returned no row')
    const { fingerprint } = stored
    await audit(db, actor, 'billing.provider-key-added', {
      type: 'provider-key',
      id,
      details: { provider, fingerprint },
    })
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
    await audit(db, actor, 'billing.provider-key-removed', {
      type: 'provider-key',
      id,
      details: { provider, fingerprint },
    })
  })

/** The id of the org's key for a provider; null without one or when the installation accepts none. */
export const findProviderKey = async (
  db: Db,
  config: Pick<BillingConfig, 'takesProviderKeys'>,
  orgId: string,
  provider: string,
): Promise<string | null> =>
  config.takesProviderKeys ? ((await queries.findKeyOf(db, orgId, provider))?.id ?? null) : null

/** The decrypted key. Undefined when it was removed. */
export const openProviderKey = async (
  db: Db,
  sealer: Sealer,
  orgId: string,
  id: string,
): Promise<string | undefined> => {
  const row = await queries.findSealed(db, orgId, id)
  return row && sealer.open(row.sealedKey, providerKeyColumn.at(orgId, id))
}
