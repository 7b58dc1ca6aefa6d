import type { Actor } from '../identity/actor.ts'
import { sql } from '../platform/database/database.ts'
import type { Db, Transaction } from '../platform/database/database.ts'
import { claimKey, recallOrgOf, releaseKeys } from '../platform/database/directory.ts'
import type { IdPage } from './receive/queries.ts'

export type WebhookStatus = 'active' | 'paused' | 'disabled'

export interface WebhookRow {
  orgId: string
  id: string
  name: string
  url: string | null
  source: string
  description: string | null
  events: string[]
  status: WebhookStatus
  statusReason: string | null
  deliveryCount: bigint
  lastDeliveryAt: string | null
  revision: number
  createdAt: string
  updatedAt: string
}

const columns = sql`org_id, id, name, url, source, description, events, status, status_reason, delivery_count,
  last_delivery_at, revision, created_at, updated_at`

export const findWebhook = (db: Db, actor: Actor, id: string) =>
  db.row<WebhookRow>(sql`select ${columns} from webhooks where org_id = ${actor.orgId} and id = ${id}`)

export const lockWebhook = (db: Db, actor: Actor, id: string) =>
  db.row<WebhookRow>(sql`
    select ${columns} from webhooks where org_id = ${actor.orgId} and id = ${id} for no key update`)

/** Newest first, with ids below `before`. */
export const listWebhooks = (db: Db, actor: Actor, { limit, before }: IdPage) =>
  db.rows<WebhookRow>(sql`
    select ${columns} from webhooks where org_id = ${actor.orgId} and id < ${before}
    order by id desc limit ${limit}`)

/** The webhooks of the same page of the list, with the begin of their failures. */
export const listFailingSince = (db: Db, actor: Actor, { limit, before }: IdPage) =>
  db.rows<{ id: string; failingSince: string | null }>(sql`
    select id, failing_since from webhooks where org_id = ${actor.orgId} and id < ${before}
    order by id desc limit ${limit}`)

export interface NewWebhook {
  id: string
  name: string
  url: string | null
  source: string
  description: string | null
  events: string[]
  secret: string
  secretHash: Buffer
  publicKey: string | null
  builtin: string | null
  createdBy: string | null
}

/** Undefined if the org already has this built-in webhook. */
export const insertWebhook = async (
  db: Transaction,
  orgId: string,
  webhook: NewWebhook,
): Promise<WebhookRow | undefined> => {
  const row = await db.row<WebhookRow>(sql`
    insert into webhooks (org_id, id, name, url, source, description, events, secret, secret_hash, public_key, builtin,
      created_by)
    values (${orgId}, ${webhook.id}, ${webhook.name}, ${webhook.url}, ${webhook.source}, ${webhook.description},
      ${webhook.events}, ${webhook.secret}, ${webhook.secretHash}, ${webhook.publicKey}, ${webhook.builtin},
      ${webhook.createdBy})
    on conflict (org_id, builtin) where builtin is not null do nothing
    returning ${columns}`)
  if (row) await claimKey(db, 'webhook', row.id, orgId)
  return row
}

export type WebhookChange = Pick<WebhookRow, 'name' | 'url' | 'source' | 'description' | 'events' | 'status'>

/** A change of status clears the server's reason for the old one and restarts the count of failing days. */
export const updateWebhook = (db: Db, actor: Actor, id: string, change: WebhookChange) =>
  db.row<WebhookRow>(sql`
    update webhooks
    set name = ${change.name}, url = ${change.url}, source = ${change.source}, description = ${change.description},
      events = ${change.events}, status = ${change.status},
      status_reason = case when status = ${change.status} then status_reason end,
      failing_since = case when status = ${change.status} then failing_since end,
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id}
    returning ${columns}`)

/** Keeps the public key if none is given. */
export const updateSecret = (
  db: Db,
  actor: Actor,
  id: string,
  secret: { sealed: string; hash: Buffer; publicKey: string | null },
) =>
  db.row<WebhookRow>(sql`
    update webhooks
    set secret = ${secret.sealed}, secret_hash = ${secret.hash}, public_key = coalesce(${secret.publicKey}, public_key),
      revision = revision + 1, updated_at = now()
    where org_id = ${actor.orgId} and id = ${id}
    returning ${columns}`)

export const deleteWebhook = async (db: Transaction, actor: Actor, id: string): Promise<void> => {
  await db.execute(sql`delete from webhooks where org_id = ${actor.orgId} and id = ${id}`)
  await releaseKeys(db, 'webhook', actor.orgId, [id])
}

/** The columns of a webhook that receiving an event needs. */
export interface ReceivingWebhook {
  orgId: string
  id: string
  source: string
  events: string[]
  status: WebhookStatus
  /** Whether it has a destination URL. */
  forwards: boolean
  /** Encrypted. */
  secret: string
  secretHash: Buffer
  publicKey: string | null
}

const receivingColumns = sql`org_id, id, source, events, status, url is not null as forwards, secret, secret_hash,
  public_key`

/** By the id in a receive URL, which does not name the org. The signature authenticates the request. */
export const findReceivingWebhook = async (db: Db, id: string): Promise<ReceivingWebhook | undefined> => {
  const orgId = await recallOrgOf(db, 'webhook', id)
  return orgId === undefined
    ? undefined
    : db.row<ReceivingWebhook>(sql`select ${receivingColumns} from webhooks where org_id = ${orgId} and id = ${id}`)
}

export const findOwnReceivingWebhook = (db: Db, actor: Actor, id: string) =>
  db.row<ReceivingWebhook>(sql`select ${receivingColumns} from webhooks where org_id = ${actor.orgId} and id = ${id}`)

export const findBuiltin = (db: Db, orgId: string, builtin: string) =>
  db.row<ReceivingWebhook>(sql`
    select ${receivingColumns} from webhooks where org_id = ${orgId} and builtin = ${builtin}`)
