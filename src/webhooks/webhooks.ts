import type { Actor } from '../identity/actor.ts'
import { systemActor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import type { Database, Db } from '../platform/database/database.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import { requireMatch } from '../platform/http/etag.ts'
import { apiPrefix } from '../platform/http/http.ts'
import { newId } from '../platform/ids.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import type { Quotas } from '../quotas/quotas.ts'
import { purgeWebhook } from './job-kinds.ts'
import { cleanEventTypes } from './receive/payload.ts'
import * as queries from './queries.ts'
import type { ReceiverRow, WebhookRow, WebhookStatus } from './queries.ts'
import { wholeList } from './schemas.ts'
import type { SecretRotate, WebhookCreate, WebhookListQuery, WebhookPatch } from './schemas.ts'
import { makeSecret, webhookSecretColumn } from './secrets.ts'
import type { MadeSecret } from './secrets.ts'
import type { Wakeup } from './deliver/wakeup.ts'

export interface WebhookRules {
  secrets: Sealer
  outbound: Outbound
  quotas: Quotas
  jobs: Jobs
  wakeup: Wakeup
}

const what = 'Webhook'

export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Where a list goes on: before the id of its last item. */
export const positionOf = (cursor: string | undefined): string =>
  cursor === undefined ? lastId : decodeCursor(cursor, ['uuid'])[0]

/** Cuts a list that was asked for with one more than its limit. */
export const pageOf = <T extends { id: string }>(rows: T[], limit: number) => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last ? encodeCursor([last.id]) : null }
}

export { findDeliveryBacklog } from './deliver/queue-queries.ts'

const receivePathOf = (id: string): string => `${apiPrefix}/webhooks/receive/${id}`

export const receiveUrlOf = (origin: string, id: string): string => origin + receivePathOf(id)

/** A webhook as the API shows it. `origin` is that of the request, or the configured one. */
export const webhookRecord = (row: WebhookRow, origin: string) => {
  const receiveUrl = receiveUrlOf(origin, row.id)
  return {
    ...row,
    url: row.url ?? receiveUrl,
    receiveUrl,
    enabled: row.status === 'active',
    deliveryCount: Number(row.deliveryCount),
  }
}

/** `named` is what the path asks for, which is missing with its webhook. */
export const getWebhook = async (db: Db, actor: Actor, id: string, named: string = what): Promise<WebhookRow> => {
  const row = await queries.findWebhook(db, actor, id)
  if (!row) throw notFound(named)
  return row
}

export const getOwnReceiver = async (db: Db, actor: Actor, id: string): Promise<ReceiverRow> => {
  const receiver = await queries.findOwnReceiver(db, actor, id)
  if (!receiver) throw notFound(what)
  return receiver
}

/** Newest first. */
export const listWebhooks = async (db: Db, actor: Actor, { limit = wholeList, cursor }: WebhookListQuery) =>
  pageOf(await queries.listWebhooks(db, actor, limit + 1, positionOf(cursor)), limit)

const cleanName = (text: string): string => {
  const name = text.trim()
  if (name === '') throw badRequest('name must not be empty')
  return name
}

const cleanSource = (text: string | undefined): string => text?.trim() || 'custom'

/** Under any origin: a server has more names than it knows of, and nobody else has the id. */
const isOwnReceiveUrl = (url: string, id: string): boolean =>
  URL.parse(url)?.pathname.replace(/\/+$/, '').toLowerCase() === receivePathOf(id).toLowerCase()

/** The URL to forward to. Null for none, and for the webhook's own receive URL: events would go in circles. */
const forwardUrl = async (
  { outbound }: WebhookRules,
  text: string | null | undefined,
  { orgId, id }: { orgId: string; id: string },
): Promise<string | null> => {
  const url = text?.trim() ?? ''
  if (url === '' || isOwnReceiveUrl(url, id)) return null
  await outbound.checkUrl(url, { orgId })
  return url
}

const seal = ({ secrets }: WebhookRules, orgId: string, id: string, { secret, hash, publicKey }: MadeSecret) => ({
  sealed: secrets.seal(secret, webhookSecretColumn.at(orgId, id)),
  hash,
  publicKey,
})

/** A new webhook and its secret, which is told this once. BAD_REQUEST for a URL that is not public. */
export const createWebhook = async (
  db: Database,
  actor: Actor,
  rules: WebhookRules,
  body: WebhookCreate,
): Promise<{ webhook: WebhookRow; secret: string }> => {
  const id = newId()
  const source = cleanSource(body.source)
  if (source.toLowerCase() === 'discord' && body.publicKey === undefined) {
    throw badRequest('publicKey is required for discord, which signs by a key of its own instead of a secret')
  }
  const made = makeSecret(source, body)
  const { sealed } = seal(rules, actor.orgId, id, made)
  const webhook = {
    id,
    name: cleanName(body.name),
    url: await forwardUrl(rules, body.url, { orgId: actor.orgId, id }),
    source,
    description: body.description ?? null,
    events: cleanEventTypes(body.events ?? []),
    secret: sealed,
    secretHash: made.hash,
    publicKey: made.publicKey,
    builtin: null,
    createdBy: actor.userId,
  }
  return db.transaction(actor, async (db) => {
    await rules.quotas.takeRow(db, actor.orgId, 'webhooks')
    const row = await queries.insertWebhook(db, actor.orgId, webhook)
    if (!row) throw new Error('a webhook that is not built in was taken for one')
    await audit(db, actor, 'webhook.created', { type: 'webhook', id }, { name: row.name, source })
    return { webhook: row, secret: made.secret }
  })
}

const statusOf = (patch: WebhookPatch, current: WebhookStatus): WebhookStatus => {
  if (patch.status !== undefined) return patch.status
  if (patch.enabled === undefined) return current
  return patch.enabled ? 'active' : 'paused'
}

/** Changes a webhook; null or '' as `url` resets it. What was held goes out when it becomes active. */
export const updateWebhook = async (
  db: Database,
  actor: Actor,
  rules: WebhookRules,
  id: string,
  patch: WebhookPatch,
  ifMatch: string | undefined,
): Promise<WebhookRow> => {
  const name = patch.name === undefined ? undefined : cleanName(patch.name)
  // Names are resolved outside the transaction.
  const url = patch.url === undefined ? undefined : await forwardUrl(rules, patch.url, { orgId: actor.orgId, id })
  return db.transaction(actor, async (db) => {
    const current = await queries.lockWebhook(db, actor, id)
    if (!current) throw notFound(what)
    requireMatch(ifMatch, current)
    const row = await queries.updateWebhook(db, actor, id, {
      name: name ?? current.name,
      url: url === undefined ? current.url : url,
      source: patch.source === undefined ? current.source : cleanSource(patch.source),
      description: patch.description === undefined ? current.description : patch.description,
      events: patch.events === undefined ? current.events : cleanEventTypes(patch.events),
      status: statusOf(patch, current.status),
    })
    if (!row) throw notFound(what)
    await audit(
      db,
      actor,
      'webhook.updated',
      { type: 'webhook', id },
      { fields: Object.keys(patch), status: row.status },
    )
    db.afterCommit(() => rules.wakeup.notify([{ orgId: actor.orgId, webhookId: id }]))
    return row
  })
}

/** A new secret. The old one verifies nothing from the commit on, in every process. */
export const rotateSecret = async (
  db: Database,
  actor: Actor,
  rules: WebhookRules,
  id: string,
  given: SecretRotate,
): Promise<{ webhook: WebhookRow; secret: string }> =>
  db.transaction(actor, async (db) => {
    const current = await queries.lockWebhook(db, actor, id)
    if (!current) throw notFound(what)
    const made = makeSecret(current.source, given)
    const webhook = await queries.updateSecret(db, actor, id, seal(rules, actor.orgId, id, made))
    if (!webhook) throw notFound(what)
    await audit(db, actor, 'webhook.secret-rotated', { type: 'webhook', id })
    return { webhook, secret: made.secret }
  })

/** Gone for good. Its events and deliveries are out of sight at once; a job removes them. */
export const deleteWebhook = async (
  db: Database,
  actor: Actor,
  { jobs }: WebhookRules,
  id: string,
  ifMatch: string | undefined,
): Promise<void> => {
  await db.transaction(actor, async (db) => {
    const current = await queries.lockWebhook(db, actor, id)
    if (!current) throw notFound(what)
    requireMatch(ifMatch, current)
    await queries.deleteWebhook(db, actor, id)
    await jobs.enqueue(db, purgeWebhook, { orgId: actor.orgId, webhookId: id })
    await audit(db, actor, 'webhook.deleted', { type: 'webhook', id }, { name: current.name })
  })
}

/** The org's own receiver for a provider that knows one URL for everybody; made when its first event arrives. */
export const ensureBuiltin = async (
  db: Database,
  { secrets }: Pick<WebhookRules, 'secrets'>,
  orgId: string,
  { builtin, name }: { builtin: string; name: string },
): Promise<ReceiverRow> => {
  const found = await queries.findBuiltin(db, orgId, builtin)
  if (found) return found
  const id = newId()
  const made = makeSecret(builtin, {})
  const secret = secrets.seal(made.secret, webhookSecretColumn.at(orgId, id))
  await db.transaction({ orgId }, async (db) => {
    const row = await queries.insertWebhook(db, orgId, {
      id,
      name,
      url: null,
      source: builtin,
      description: `Events of ${name} that reach this org through its connections`,
      events: [],
      secret,
      secretHash: made.hash,
      publicKey: null,
      builtin,
      createdBy: null,
    })
    if (row)
      await audit(db, systemActor(orgId, name), 'webhook.created', { type: 'webhook', id }, { name, source: builtin })
  })
  const receiver = await queries.findBuiltin(db, orgId, builtin)
  if (!receiver) throw notFound(what)
  return receiver
}
