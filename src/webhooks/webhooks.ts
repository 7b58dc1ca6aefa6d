import type { Actor } from '../identity/actor.ts'
import { systemActor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import type { Database, Db } from '../platform/database/database.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import { requireMatch } from '../platform/http/etag.ts'
import { apiPrefix } from '../platform/http/http.ts'
import { recordEvent } from '../outbox/record.ts'
import { newId } from '../platform/ids.ts'
import type { WebhookDeps } from './deps.ts'
import { recentResultsOf } from './deliver/recent-results-queries.ts'
import type { RecentResults } from './deliver/recent-results-queries.ts'
import { recordUpdate } from './events.ts'
import { enqueuePurge } from './job-kinds.ts'
import { cleanEventTypes } from './receive/payload.ts'
import * as queries from './queries.ts'
import type { ReceivingWebhook, WebhookRow, WebhookStatus } from './queries.ts'
import { wholeList } from './schemas.ts'
import type { SecretRotate, WebhookCreate, WebhookListQuery, WebhookPatch } from './schemas.ts'
import { createSecret, webhookSecretColumn } from './secrets.ts'
import type { NewSecret } from './secrets.ts'

const what = 'Webhook'

export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The id below which a page starts: that of the last item of the previous page. */
export const positionOf = (cursor: string | undefined): string =>
  cursor === undefined ? lastId : decodeCursor(cursor, ['uuid'])[0]

/** Converts rows to a page. The rows contain one more than the limit if there is a next page. */
export const pageOf = <T extends { id: string }>(rows: T[], limit: number) => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last ? encodeCursor([last.id]) : null }
}

export { findDeliveryBacklog } from './deliver/queue-queries.ts'

const receivePathOf = (id: string): string => `${apiPrefix}/webhooks/receive/${id}`

export const receiveUrlOf = (origin: string, id: string): string => origin + receivePathOf(id)

/** The API representation of a webhook. `origin` is the configured base URL, else that of the request. */
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

/** NOT_FOUND names `resource`, the kind of thing that the path asks for below the webhook. */
export const getWebhook = async (db: Db, actor: Actor, id: string, resource: string = what): Promise<WebhookRow> => {
  const row = await queries.findWebhook(db, actor, id)
  if (!row) throw notFound(resource)
  return row
}

export const getReceivingWebhook = async (db: Db, actor: Actor, id: string): Promise<ReceivingWebhook> => {
  const webhook = await queries.findOwnReceivingWebhook(db, actor, id)
  if (!webhook) throw notFound(what)
  return webhook
}

/** Newest first. */
export const listWebhooks = async (db: Db, actor: Actor, { limit = wholeList, cursor }: WebhookListQuery) =>
  pageOf(await queries.listWebhooks(db, actor, { limit: limit + 1, before: positionOf(cursor) }), limit)

const summaryOf = ({ recentResults, lastResultAt }: RecentResults) => ({
  recentResults,
  lastResult: recentResults[0] ?? null,
  lastResultAt,
  successRate:
    recentResults.length === 0
      ? null
      : recentResults.filter((result) => result === 'succeeded').length / recentResults.length,
})

/** How the deliveries of each webhook of a page of the list go. */
export const listHealth = async (db: Db, actor: Actor, { limit = wholeList, cursor }: WebhookListQuery) => {
  const rows = await queries.listFailingSince(db, actor, { limit: limit + 1, before: positionOf(cursor) })
  const { items, nextCursor } = pageOf(rows, limit)
  const resultsOf = await recentResultsOf(
    db,
    actor.orgId,
    items.map(({ id }) => id),
  )
  return { items: items.map((item) => ({ ...item, ...summaryOf(resultsOf(item.id)) })), nextCursor }
}

const cleanName = (text: string): string => {
  const name = text.trim()
  if (name === '') throw badRequest('name must be 1–120 characters')
  return name
}

const cleanSource = (text: string | undefined): string => text?.trim() || 'custom'

/** Compares the path only, because a server may have host names that are not configured. The id is unique. */
const isOwnReceiveUrl = (url: string, id: string): boolean =>
  URL.parse(url)?.pathname.replace(/\/+$/, '').toLowerCase() === receivePathOf(id).toLowerCase()

/** The destination URL. Null if there is none, and for the webhook's own receive URL, which would be a loop. */
const destinationUrl = async (
  { outbound }: WebhookDeps,
  text: string | null | undefined,
  { orgId, id }: { orgId: string; id: string },
): Promise<string | null> => {
  const url = text?.trim() ?? ''
  if (url === '' || isOwnReceiveUrl(url, id)) return null
  return outbound.cleanUrl(url, { orgId })
}

const seal = ({ secrets }: WebhookDeps, orgId: string, id: string, { secret, hash, publicKey }: NewSecret) => ({
  sealed: secrets.seal(secret, webhookSecretColumn.at(orgId, id)),
  hash,
  publicKey,
})

/** A new webhook and its secret, which no other call returns. BAD_REQUEST for a URL that is not public. */
export const createWebhook = async (
  db: Database,
  actor: Actor,
  deps: WebhookDeps,
  body: WebhookCreate,
): Promise<{ webhook: WebhookRow; secret: string }> => {
  const id = newId()
  const source = cleanSource(body.source)
  if (source.toLowerCase() === 'discord' && body.publicKey === undefined) {
    throw badRequest('publicKey is required for discord, which signs with its own key pair instead of a secret')
  }
  const secret = createSecret(source, body)
  const { sealed } = seal(deps, actor.orgId, id, secret)
  const webhook = {
    id,
    name: cleanName(body.name),
    url: await destinationUrl(deps, body.url, { orgId: actor.orgId, id }),
    source,
    description: body.description ?? null,
    events: cleanEventTypes(body.events ?? []),
    secret: sealed,
    secretHash: secret.hash,
    publicKey: secret.publicKey,
    builtin: null,
    createdBy: actor.userId,
  }
  return db.transaction(actor, async (db) => {
    await deps.quotas.checkRow(db, actor.orgId, 'webhooks')
    const row = await queries.insertWebhook(db, actor.orgId, webhook)
    if (!row) throw new Error('insert conflicted on the key of built-in webhooks')
    const { name } = row
    await audit(db, actor, 'webhook.created', { type: 'webhook', id, details: { name, source } })
    const data = { webhookId: id, name, source }
    await recordEvent(db, actor, 'webhook.created', { subjectId: id, workspaceId: null, data })
    return { webhook: row, secret: secret.secret }
  })
}

const statusOf = (patch: WebhookPatch, current: WebhookStatus): WebhookStatus => {
  if (patch.status !== undefined) return patch.status
  if (patch.enabled === undefined) return current
  return patch.enabled ? 'active' : 'paused'
}

/** Changes a webhook; null or '' as `url` resets it. Held deliveries are sent when it becomes active. */
export const updateWebhook = async (
  db: Database,
  actor: Actor,
  deps: WebhookDeps,
  { id, patch, ifMatch }: { id: string; patch: WebhookPatch; ifMatch: string | undefined },
): Promise<WebhookRow> => {
  const name = patch.name === undefined ? undefined : cleanName(patch.name)
  // Before the transaction, because it resolves the host name.
  const url = patch.url === undefined ? undefined : await destinationUrl(deps, patch.url, { orgId: actor.orgId, id })
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
    await audit(db, actor, 'webhook.updated', {
      type: 'webhook',
      id,
      details: { fields: Object.keys(patch), status: row.status },
    })
    await recordUpdate(db, actor, { current, row, changed: Object.keys(patch) })
    db.afterCommit(() => deps.deliveryWake.notify([{ orgId: actor.orgId, webhookId: id }]))
    return row
  })
}

/** Replaces the secret. From the commit on, no process accepts the old one. */
export const rotateSecret = async (
  db: Database,
  actor: Actor,
  deps: WebhookDeps,
  { id, given }: { id: string; given: SecretRotate },
): Promise<{ webhook: WebhookRow; secret: string }> =>
  db.transaction(actor, async (db) => {
    const current = await queries.lockWebhook(db, actor, id)
    if (!current) throw notFound(what)
    const secret = createSecret(current.source, given)
    const webhook = await queries.updateSecret(db, actor, id, seal(deps, actor.orgId, id, secret))
    if (!webhook) throw notFound(what)
    await audit(db, actor, 'webhook.secret-rotated', { type: 'webhook', id })
    await recordUpdate(db, actor, { current, row: webhook, changed: ['secret'] })
    return { webhook, secret: secret.secret }
  })

/** Deletes a webhook. Its events and deliveries are no longer visible; a job deletes their rows. */
export const deleteWebhook = async (
  db: Database,
  actor: Actor,
  { jobs }: WebhookDeps,
  { id, ifMatch }: { id: string; ifMatch: string | undefined },
): Promise<void> => {
  await db.transaction(actor, async (db) => {
    const current = await queries.lockWebhook(db, actor, id)
    if (!current) throw notFound(what)
    requireMatch(ifMatch, current)
    await queries.deleteWebhook(db, actor, id)
    await enqueuePurge(db, jobs, { orgId: actor.orgId, webhookId: id })
    await audit(db, actor, 'webhook.deleted', { type: 'webhook', id, details: { name: current.name } })
    const data = { webhookId: id, name: current.name }
    await recordEvent(db, actor, 'webhook.deleted', { subjectId: id, workspaceId: null, data })
  })
}

/** The org's webhook for a provider that has one URL for all orgs. Created with its first event. */
export const ensureBuiltin = async (
  db: Database,
  { secrets }: Pick<WebhookDeps, 'secrets'>,
  orgId: string,
  { builtin, name }: { builtin: string; name: string },
): Promise<ReceivingWebhook> => {
  const found = await queries.findBuiltin(db, orgId, builtin)
  if (found) return found
  const id = newId()
  const { secret, hash } = createSecret(builtin, {})
  const sealed = secrets.seal(secret, webhookSecretColumn.at(orgId, id))
  await db.transaction({ orgId }, async (db) => {
    const row = await queries.insertWebhook(db, orgId, {
      id,
      name,
      url: null,
      source: builtin,
      description: `Events of ${name} for the organizations that this org has bound`,
      events: [],
      secret: sealed,
      secretHash: hash,
      publicKey: null,
      builtin,
      createdBy: null,
    })
    if (!row) return
    const author = systemActor(orgId, name)
    await audit(db, author, 'webhook.created', { type: 'webhook', id, details: { name, source: builtin } })
    const data = { webhookId: id, name, source: builtin }
    await recordEvent(db, author, 'webhook.created', { subjectId: id, workspaceId: null, data })
  })
  const webhook = await queries.findBuiltin(db, orgId, builtin)
  if (!webhook) throw notFound(what)
  return webhook
}
