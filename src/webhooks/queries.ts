import type { Actor } from '../identity/actor.ts'
import { sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'

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

/** Newest first, from the one after `before` on. */
export const listWebhooks = (db: Db, actor: Actor, limit: number, before: string) =>
  db.rows<WebhookRow>(sql`
    select ${columns} from webhooks where org_id = ${actor.orgId} and id < ${before}
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

/** Undefined when the org has this built-in one already. */
export const insertWebhook = (db: Db, orgId: string, webhook: NewWebhook) =>
  db.row<WebhookRow>(sql`
    insert into webhooks (org_id, id, name, url, source, description, events, secret, secret_hash, public_key, builtin,
      created_by)
    values (${orgId}, ${webhook.id}, ${webhook.name}, ${webhook.url}, ${webhook.source}, ${webhook.description},
      ${webhook.events}, ${webhook.secret}, ${webhook.secretHash}, ${webhook.publicKey}, ${webhook.builtin},
      ${webhook.createdBy})
    on conflict (org_id, builtin) where builtin is not null do nothing
    returning ${columns}`)

export type WebhookChange = Pick<WebhookRow, 'name' | 'url' | 'source' | 'description' | 'events' | 'status'>

/** A person's choice of status ends what the server had to say about it, and starts the count of failing days anew. */
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

/** A public key stays until another one is given. */
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

export const deleteWebhook = (db: Db, actor: Actor, id: string) =>
  db.execute(sql`delete from webhooks where org_id = ${actor.orgId} and id = ${id}`)

/** All that receiving needs to know of a webhook. */
export interface ReceiverRow {
  orgId: string
  id: string
  source: string
  events: string[]
  status: WebhookStatus
  forwards: boolean
  /** Sealed. */
  secret: string
  secretHash: Buffer
  publicKey: string | null
}

const receiverColumns = sql`org_id, id, source, events, status, url is not null as forwards, secret, secret_hash,
  public_key`

export const findReceiver = (db: Db, id: string) =>
  db.row<ReceiverRow>(sql`-- all orgs: a receive URL carries no org, and its signature is the proof
    select ${receiverColumns} from webhooks where id = ${id}`)

export const findOwnReceiver = (db: Db, actor: Actor, id: string) =>
  db.row<ReceiverRow>(sql`select ${receiverColumns} from webhooks where org_id = ${actor.orgId} and id = ${id}`)

export const findBuiltin = (db: Db, orgId: string, builtin: string) =>
  db.row<ReceiverRow>(sql`
    select ${receiverColumns} from webhooks where org_id = ${orgId} and builtin = ${builtin}`)
