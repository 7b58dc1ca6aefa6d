import { setTimeout as delay } from 'node:timers/promises'
import type { JobContext } from '../../platform/jobs/jobs.ts'
import { withLease } from '../../platform/database/lease.ts'
import type { Lease } from '../../platform/database/lease.ts'
import type { Log } from '../../platform/process/log.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { catalog } from '../catalog/catalog.ts'
import * as chatQueries from './queries.ts'
import type { AnswerChange, ChatKey, OpenAnswer } from './queries.ts'
import { enqueueAnswer } from './chats.ts'
import type { ChatDeps } from './chats.ts'
import { callConnection } from '../connections/calls.ts'
import { replyToColumn } from '../endpoints/secrets.ts'
import * as endpointQueries from '../endpoints/queries.ts'
import type { EndpointRow } from '../endpoints/queries.ts'
import { endpoint as providerUrl, ProviderError } from '../connections/provider.ts'
import type { OutgoingPart, ReplyChannel } from '../../providers/provider.ts'
import type { ChatAdapters } from '../../providers/providers.ts'
import type { AccessDeps } from '../oauth/refresh.ts'
import { splitText } from './split-text.ts'

export interface ReplyDeps extends ChatDeps, AccessDeps {
  log: Log
  secrets: Sealer
  adapters: ChatAdapters
  /** For the crash tests: called at the moments that hurt most. */
  onSend?: (moment: 'before' | 'after', chat: ChatKey) => void
}

/** How an attempt to send ended. `later`: it was certainly not sent. `unknown`: nobody knows. */
type Sent =
  | { outcome: 'sent' }
  | { outcome: 'later'; reason: string; retryAfterSeconds?: number | undefined }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'unknown'; reason: string }

const apology = 'Sorry, I cannot answer this right now.'

/** With the waits between them, half an hour. */
const maxSendAttempts = 13
const maxWaitSeconds = 300
/** What a provider asks for is believed up to here. */
const maxAskedSeconds = 3_600
const sendTimeoutMs = 30_000
/** One that a killed worker left is over before its job is given to another one (20 s). */
const chatLease = { leaseMs: 15_000, renewMs: 2_500 }
const busyMs = 500

/** The request may have arrived, though no answer to it did. */
const mayHaveArrived = (error: unknown): boolean =>
  error instanceof OutboundError && ['timeout', 'connection_reset', 'network_error'].includes(error.reason)

const toSent = (error: unknown): Sent => {
  const cause = error instanceof ProviderError ? error.cause : error
  const reason = error instanceof Error ? error.message : String(error)
  if (mayHaveArrived(cause)) return { outcome: 'unknown', reason }
  if (error instanceof OutboundError) return { outcome: 'later', reason }
  if (error instanceof ProviderError && error.failure === 'unavailable') {
    return { outcome: 'later', reason, retryAfterSeconds: error.retryAfterSeconds }
  }
  if (error instanceof ApiError) return { outcome: error.status >= 500 ? 'later' : 'refused', reason }
  throw error
}

const postTo = async (
  deps: ReplyDeps,
  { orgId, provider }: EndpointRow,
  { url, json }: { url: string; json?: unknown },
): Promise<void> => {
  const connector = catalog.get(provider)
  if (!connector) throw new Error(`there is no connector ${provider}`)
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
  const failure = status === 429 || status >= 500 ? 'unavailable' : 'refused'
  throw new ProviderError(failure, `${connector.name} answered ${status}.`)
}

const sendPart = async (
  deps: ReplyDeps,
  endpoint: EndpointRow,
  channel: ReplyChannel,
  outgoing: OutgoingPart,
): Promise<Sent> => {
  const text = channel.encode?.(outgoing.text) ?? outgoing.text
  const request = channel.request({ ...outgoing, text })
  try {
    if ('url' in request) await postTo(deps, endpoint, request)
    else {
      const input = { ...outgoing.replyTo, text }
      await callConnection(deps, { orgId: endpoint.orgId, id: endpoint.connectionId }, request, { input })
    }
    return { outcome: 'sent' }
  } catch (error) {
    return toSent(error)
  }
}

/** One answer on its way to its chat, under the lease on that. */
interface Delivery {
  deps: ReplyDeps
  chat: ChatKey
  endpoint: EndpointRow
  channel: ReplyChannel
  answer: OpenAnswer
  lease: Lease
}

const change = async ({ deps, chat, answer, lease }: Omit<Delivery, 'endpoint' | 'channel'>, to: AnswerChange) => {
  const isOurs = await chatQueries.changeAnswer(deps.db, chat, answer.externalId, lease.token, to)
  if (!isOurs) throw new Error('the chat was given to another worker')
}

/** How an answer ended, or for how many seconds it has to wait. Undefined: it goes on. */
type Progress = AnswerChange['end'] | number

/**
 * Sends one part. Before it goes out that is written down: whoever finds it so later knows that it may have arrived, and
 * sends it again only where the provider makes one message of two. Answers how the answer ended, or undefined when the
 * next part may follow.
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
    const error = 'The worker that sent the answer was ended, and the provider does not tell whether it arrived.'
    return { state: 'unknown', error }
  }
  lease.check()
  await change(delivery, { isSending: true, partsSent: part, sendAttempts: attempts + 1 })
  deps.onSend?.('before', chat)
  const sent = await sendPart(deps, endpoint, channel, outgoing)
  deps.onSend?.('after', chat)
  if (sent.outcome === 'sent') return undefined
  if (sent.outcome === 'unknown' && !isRepeatable) return { state: 'unknown', error: sent.reason }
  if (sent.outcome === 'refused' || attempts + 1 >= maxSendAttempts) return { state: 'failed', error: sent.reason }
  const asked = sent.outcome === 'later' ? (sent.retryAfterSeconds ?? 0) : 0
  const waitSeconds = Math.max(Math.min(maxWaitSeconds, 2 ** attempts), Math.min(maxAskedSeconds, asked))
  await change(delivery, { isSending: false, partsSent: part, sendAttempts: attempts + 1, waitSeconds })
  deps.log.info({ provider: endpoint.provider, endpointId: endpoint.id, reason: sent.reason }, 'an answer has to wait')
  return waitSeconds
}

const deliver = async (delivery: Delivery, text: string): Promise<Progress> => {
  const { deps, chat, channel, answer } = delivery
  const { externalId, error, replyTo } = answer
  if (replyTo === null) return { state: 'silent', error }
  const at = replyToColumn.at(chat.orgId, chat.endpointId, externalId)
  const target = JSON.parse(deps.secrets.open(replyTo, at)) as OutgoingPart['replyTo']
  const parts = splitText(text, channel.maxLength)
  let { isSending: wasSending, sendAttempts: attempts } = answer
  for (let part = answer.partsSent; part < parts.length; part++) {
    const outgoing = { text: parts[part] ?? '', part, replyTo: target }
    const end = await deliverPart(delivery, { part, attempts, wasSending }, outgoing)
    if (end !== undefined) return end
    wasSending = false
    attempts = 0
    if (part + 1 < parts.length) await change(delivery, { isSending: false, partsSent: part + 1, sendAttempts: 0 })
  }
  return { state: error === null ? 'answered' : 'failed', error }
}

const finish = (delivery: Omit<Delivery, 'endpoint' | 'channel'>, end: NonNullable<AnswerChange['end']>) =>
  change(delivery, { isSending: false, partsSent: delivery.answer.partsSent, sendAttempts: 0, end })

/** Sends what is ready of a chat, in its order. Answers for how many seconds the next has to wait; 0: nothing waits. */
const sendReady = async (deps: ReplyDeps, chat: ChatKey, lease: Lease): Promise<number> => {
  for (;;) {
    const answer = await chatQueries.findOpenAnswer(deps.db, chat)
    if (!answer) return 0
    if (answer.waitSeconds > 0) return answer.waitSeconds
    const delivery = { deps, chat, answer, lease }
    const endpoint = await endpointQueries.findEndpoint(deps.db, chat.orgId, chat.endpointId)
    const reply = answer.turnId === null ? { text: apology } : await deps.runtime.findReply(chat.orgId, answer.turnId)
    if (!reply) return 0
    const channel = endpoint && deps.adapters.get(endpoint.provider)?.reply
    if (!endpoint || !channel) {
      await finish(delivery, { state: 'silent', error: answer.error })
      continue
    }
    const text = reply.text.trim() === '' ? apology : reply.text
    const end = await deliver({ ...delivery, endpoint, channel }, text)
    if (typeof end === 'number') return end
    if (end) await finish(delivery, end)
  }
}

/** The job of an answer: sends everything that is ready in its chat, one answer after another. */
export const answer = async (deps: ReplyDeps, chat: ChatKey, { signal }: Pick<JobContext, 'signal'>): Promise<void> => {
  for (;;) {
    const options = { timing: chatLease }
    const waitSeconds = await withLease(deps.db, chatQueries.leasedChat(chat), options, (lease) =>
      sendReady(deps, chat, lease),
    )
    if (waitSeconds === 0) return
    if (waitSeconds !== undefined) {
      await deps.db.transaction(chat, (db) => enqueueAnswer(db, deps.jobs, chat, Math.ceil(waitSeconds)))
      return
    }
    if (!(await chatQueries.chatExists(deps.db, chat))) return
    // Whoever has the chat may have looked before this answer was ready.
    await delay(busyMs, undefined, { signal })
  }
}

/** The job of a turn that ended: its answer is to be sent. */
export const turnEnded = async (
  deps: ReplyDeps,
  { orgId, turnId }: { orgId: string; turnId: string },
): Promise<void> => {
  const chat = await chatQueries.findChatOfTurn(deps.db, orgId, turnId)
  if (!chat) return
  await deps.db.transaction({ orgId }, (db) => enqueueAnswer(db, deps.jobs, chat))
}
