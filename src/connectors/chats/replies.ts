import { setTimeout as delay } from 'node:timers/promises'
import type { JobContext } from '../../platform/jobs/jobs.ts'
import { withLease } from '../../platform/database/lease.ts'
import type { Lease } from '../../platform/database/lease.ts'
import type { Log } from '../../platform/process/log.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { catalog } from '../catalog/catalog.ts'
import { providerUrl } from '../connections/access.ts'
import { callConnection } from '../connections/calls.ts'
import { ProviderError } from '../connections/provider-error.ts'
import type { AccessDeps } from '../deps.ts'
import * as endpointQueries from '../endpoints/queries.ts'
import type { EndpointRow } from '../endpoints/queries.ts'
import { replyToColumn } from '../endpoints/secrets.ts'
import type { OutgoingPart, ReplyChannel } from '../../providers/provider.ts'
import type { ChatAdapters } from '../../providers/providers.ts'
import { enqueueReplies } from './chats.ts'
import type { ChatDeps } from './chats.ts'
import * as queries from './queries.ts'
import type { ChatKey, PendingReply, ReplyUpdate } from './queries.ts'
import { splitText } from './split-text.ts'

export interface ReplyDeps extends ChatDeps, AccessDeps {
  log: Log
  secrets: Sealer
  adapters: ChatAdapters
  /** Fault point of the crash tests: before and after each request that sends a part. */
  onSend?: (point: 'before' | 'after', chat: ChatKey) => void
}

/**
 * Result of one attempt. `not_sent`: the provider did not accept the message, so a retry is safe. `unknown`: it may have
 * arrived.
 */
type SendResult =
  | { outcome: 'sent' }
  | { outcome: 'not_sent'; reason: string; retryAfterSeconds?: number | undefined }
  | { outcome: 'rejected'; reason: string }
  | { outcome: 'unknown'; reason: string }

const apology = 'Sorry, I cannot answer this right now.'

/** About half an hour, including the waits. */
const maxSendAttempts = 13
const maxWaitSeconds = 300
/** Upper limit for the provider's `Retry-After`. */
const maxRetryAfterSeconds = 3_600
const sendTimeoutMs = 30_000
/** The lease of a killed worker ends before its job starts at another one (20 s). */
const chatLease = { leaseMs: 15_000, renewMs: 2_500 }
const busyPollMs = 500

/** The request may have arrived although there was no response. */
const mayHaveArrived = (error: unknown): boolean =>
  error instanceof OutboundError && ['timeout', 'connection_reset', 'network_error'].includes(error.reason)

const toResult = (error: unknown): SendResult => {
  const cause = error instanceof ProviderError ? error.cause : error
  const reason = error instanceof Error ? error.message : String(error)
  if (mayHaveArrived(cause)) return { outcome: 'unknown', reason }
  if (error instanceof OutboundError) return { outcome: 'not_sent', reason }
  if (error instanceof ProviderError && error.failure === 'unavailable') {
    return { outcome: 'not_sent', reason, retryAfterSeconds: error.retryAfterSeconds }
  }
  if (error instanceof ApiError) return { outcome: error.status >= 500 ? 'not_sent' : 'rejected', reason }
  throw error
}

/** Posts to a URL that came with the message, such as Slack's `response_url`. Carries no credentials. */
const postToUrl = async (
  deps: ReplyDeps,
  { orgId, provider }: EndpointRow,
  { url, json }: { url: string; json?: unknown },
): Promise<void> => {
  const connector = catalog.get(provider)
  if (!connector) throw new Error(`the catalog has no connector ${provider}`)
  const target = providerUrl(deps, connector, url)
  const { status } = await deps.outbound.request(target.url, {
    trusted: target.trusted,
    orgId,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
    timeoutMs: sendTimeoutMs,
    maxBytes: 65_536,
  })
  if (status >= 200 && status < 300) return
  const failure = status === 429 || status >= 500 ? 'unavailable' : 'rejected'
  throw new ProviderError(failure, `${connector.name} responded with status ${status}.`)
}

const sendPart = async (
  deps: ReplyDeps,
  endpoint: EndpointRow,
  channel: ReplyChannel,
  outgoing: OutgoingPart,
): Promise<SendResult> => {
  const text = channel.encode?.(outgoing.text) ?? outgoing.text
  const request = channel.request({ ...outgoing, text })
  try {
    if ('url' in request) await postToUrl(deps, endpoint, request)
    else {
      const input = { ...outgoing.replyTo, text }
      await callConnection(deps, { orgId: endpoint.orgId, id: endpoint.connectionId }, request, { input })
    }
    return { outcome: 'sent' }
  } catch (error) {
    return toResult(error)
  }
}

/** One reply that is being sent, under the lease of its chat. */
interface Delivery {
  deps: ReplyDeps
  chat: ChatKey
  endpoint: EndpointRow
  channel: ReplyChannel
  reply: PendingReply
  lease: Lease
}

const save = async ({ deps, chat, reply, lease }: Omit<Delivery, 'endpoint' | 'channel'>, update: ReplyUpdate) => {
  const key = { externalId: reply.externalId, leaseToken: lease.token }
  if (await queries.updateReply(deps.db, chat, key, update)) return
  throw new Error('the lease of the chat was lost')
}

/** How the reply ended, or the seconds until the next attempt. Undefined: the next part can be sent. */
type Progress = ReplyUpdate['end'] | number

/**
 * Sends one part. `isSending` is stored first, so that after a crash the next worker knows that the part may have
 * arrived. It sends the part again only if the provider deduplicates it.
 */
const deliverPart = async (
  delivery: Delivery,
  progress: { part: number; attempts: number; wasSending: boolean },
  outgoing: OutgoingPart,
): Promise<Progress> => {
  const { deps, chat, endpoint, channel, lease } = delivery
  const { part, attempts } = progress
  const isRepeatable = channel.isRepeatable(part)
  if (progress.wasSending && !isRepeatable) {
    const error = 'The worker stopped while it sent the reply. The provider does not report whether it arrived.'
    return { state: 'unknown', error }
  }
  lease.check()
  await save(delivery, { isSending: true, partsSent: part, sendAttempts: attempts + 1 })
  deps.onSend?.('before', chat)
  const result = await sendPart(deps, endpoint, channel, outgoing)
  deps.onSend?.('after', chat)
  if (result.outcome === 'sent') return undefined
  const { outcome, reason } = result
  if (outcome === 'unknown' && !isRepeatable) return { state: 'unknown', error: reason }
  if (outcome === 'rejected' || attempts + 1 >= maxSendAttempts) return { state: 'failed', error: reason }
  const retryAfterSeconds = outcome === 'not_sent' ? (result.retryAfterSeconds ?? 0) : 0
  const backoffSeconds = Math.min(maxWaitSeconds, 2 ** attempts)
  const waitSeconds = Math.max(backoffSeconds, Math.min(maxRetryAfterSeconds, retryAfterSeconds))
  await save(delivery, { isSending: false, partsSent: part, sendAttempts: attempts + 1, waitSeconds })
  deps.log.info(
    { provider: endpoint.provider, endpointId: endpoint.id, reason, waitSeconds },
    'a reply will be retried',
  )
  return waitSeconds
}

const deliver = async (delivery: Delivery, text: string): Promise<Progress> => {
  const { deps, chat, channel, reply } = delivery
  const { externalId, error, replyTo } = reply
  if (replyTo === null) return { state: 'silent', error }
  const at = replyToColumn.at(chat.orgId, chat.endpointId, externalId)
  const target = JSON.parse(deps.secrets.open(replyTo, at)) as OutgoingPart['replyTo']
  const parts = splitText(text, channel.maxLength)
  let { isSending: wasSending, sendAttempts: attempts } = reply
  for (let part = reply.partsSent; part < parts.length; part++) {
    const outgoing = { text: parts[part] ?? '', part, replyTo: target }
    const progress = await deliverPart(delivery, { part, attempts, wasSending }, outgoing)
    if (progress !== undefined) return progress
    wasSending = false
    attempts = 0
    if (part + 1 < parts.length) await save(delivery, { isSending: false, partsSent: part + 1, sendAttempts: 0 })
  }
  return { state: error === null ? 'answered' : 'failed', error }
}

const finish = (delivery: Omit<Delivery, 'endpoint' | 'channel'>, end: NonNullable<ReplyUpdate['end']>) =>
  save(delivery, { isSending: false, partsSent: delivery.reply.partsSent, sendAttempts: 0, end })

/** Sends the chat's finished replies in order. Returns the seconds until the next attempt; 0 when nothing waits. */
const sendReady = async (deps: ReplyDeps, chat: ChatKey, lease: Lease): Promise<number> => {
  for (;;) {
    const reply = await queries.findPendingReply(deps.db, chat)
    if (!reply) return 0
    if (reply.waitSeconds > 0) return reply.waitSeconds
    const delivery = { deps, chat, reply, lease }
    const endpoint = await endpointQueries.findEndpoint(deps.db, chat.orgId, chat.endpointId)
    const result = reply.turnId === null ? { text: apology } : await deps.runtime.findReply(chat.orgId, reply.turnId)
    if (!result) return 0
    const channel = endpoint && deps.adapters.get(endpoint.provider)?.reply
    if (!endpoint || !channel) {
      await finish(delivery, { state: 'silent', error: reply.error })
      continue
    }
    const text = result.text.trim() === '' ? apology : result.text
    const progress = await deliver({ ...delivery, endpoint, channel }, text)
    if (typeof progress === 'number') return progress
    if (progress) await finish(delivery, progress)
  }
}

/** Handles the reply job: sends all finished replies of the chat, one after another. */
export const sendReplies = async (
  deps: ReplyDeps,
  chat: ChatKey,
  { signal }: Pick<JobContext, 'signal'>,
): Promise<void> => {
  for (;;) {
    const options = { timing: chatLease }
    const waitSeconds = await withLease(deps.db, queries.leasedChat(chat), options, (lease) =>
      sendReady(deps, chat, lease),
    )
    if (waitSeconds === 0) return
    if (waitSeconds !== undefined) {
      await deps.db.transaction(chat, (db) => enqueueReplies(db, deps.jobs, chat, Math.ceil(waitSeconds)))
      return
    }
    if (!(await queries.chatExists(deps.db, chat))) return
    // Another worker has the lease. It may have looked before this reply was finished, so check again afterwards.
    await delay(busyPollMs, undefined, { signal })
  }
}

/** Handles the end of a turn: enqueues its reply if the turn belongs to a chat. */
export const replyToTurn = async (
  deps: ReplyDeps,
  { orgId, turnId }: { orgId: string; turnId: string },
): Promise<void> => {
  const chat = await queries.findChatOfTurn(deps.db, orgId, turnId)
  if (!chat) return
  await deps.db.transaction({ orgId }, (db) => enqueueReplies(db, deps.jobs, chat))
}
