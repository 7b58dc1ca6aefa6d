import { chainHeader, hopsHeader, hopsOf } from '../../outbox/chain.ts'
import type { ChainHeaders, EventChain } from '../../outbox/chain.ts'
import type { Log } from '../../platform/process/log.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound, OutboundFailure, OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { signStandardWebhook } from '../../platform/signatures/standard-webhooks.ts'
import { runUnit } from '../../platform/process/units.ts'
import type { AttemptRecord, ResponseRecord } from './queries.ts'
import { storable } from '../receive/payload.ts'
import type { ClaimedRow, Outcome } from './queue-queries.ts'
import { nextDelaySeconds } from './schedule.ts'
import { eventEndpointSecretColumn, forwardingKey, webhookSecretColumn } from '../secrets.ts'
import { disablingBy, goneStatus } from './settle.ts'

/** What an attempt sends for an event of Atrium. */
export interface PreparedEvent {
  /** JSON, the same bytes on every attempt. Null if the event was deleted at the end of its retention period. */
  body: Buffer | null
  headers: Record<string, string>
  /** The chain after the event, of an event of Atrium itself. */
  chain?: EventChain
}

/**
 * - `error`: nothing is sent and the delivery fails for good. With `isAttempt`, that is the result of an attempt: the endpoint
 *   is failing. Without it, no attempt was made.
 * - `postponed`: the event cannot be prepared now, and the delivery is claimed again.
 */
export type Prepared = PreparedEvent | { error: string; isAttempt?: boolean } | 'postponed'

export interface AttemptDeps {
  secrets: Sealer
  outbound: Outbound
  log: Log
  chains: ChainHeaders
  /** Reads the event of a delivery to an event endpoint. */
  prepareEvent: (row: ClaimedRow) => Promise<Prepared>
  /** Reads the task of a notification, and the headers that authenticate it. */
  prepareTask: (row: ClaimedRow) => Promise<Prepared>
  /** Seconds before each retry. */
  schedule: readonly number[]
}

export const attemptTimeoutMs = 15_000
/**
 * An event that has passed through this many deliveries is not forwarded again: webhooks can forward to one another, and
 * the URLs of a cycle can use different host names, so a cycle cannot be detected when a URL is set.
 */
const maxForwards = 5
const maxResponseBytes = 16_384

/** Limits of the part of a response that is stored. */
const storedBytes = 4_096
const maxHeaders = 50
const maxHeader = 512

/** Headers that describe the event and that the destination may need to interpret it. */
const forwardedHeaders =
  /^(atrium-event-chain|x-github-(event|delivery)|x-gitlab-event(-uuid)?|x-shopify-(topic|shop-domain|api-version)|linear-(event|delivery)|x-atlassian-webhook-identifier)$/

/** The headers of a forwarded event, without the signature. */
const forwardingHeaders = (row: ClaimedRow): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(row.headers ?? {}).filter(([name]) => forwardedHeaders.test(name))),
  ...(row.contentType === null ? {} : { 'content-type': row.contentType }),
  [hopsHeader]: String(hopsOf(row.headers) + 1),
})

const isPrivate = (name: string): boolean => /cookie|authorization|authenticate|token|secret|api-?key/.test(name)

/** The longest prefix of whole characters that fits into `bytes` of UTF-8. */
const truncate = (text: string, bytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read)

const recordOf = (response: OutboundResponse): ResponseRecord => {
  const text = response.body.toString('utf8')
  const body = truncate(storable(text, storedBytes), storedBytes)
  const headers = Object.entries(response.headers)
    .filter(([name]) => !isPrivate(name))
    .slice(0, maxHeaders)
    .map(([name, value]) => [storable(name, maxHeader), storable(value, maxHeader)])
  return {
    status: response.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body,
    truncated: response.truncated || body.length < text.length,
    durationMs: response.durationMs,
  }
}

type Result =
  | { response: OutboundResponse }
  | { response?: undefined; error: string; failure: OutboundFailure | 'unprepared' | undefined }

interface Attempt {
  row: ClaimedRow
  url: string
  body: Buffer
  headers: Record<string, string>
  startedAt: Date
}

const secretColumns = { webhook: webhookSecretColumn, endpoint: eventEndpointSecretColumn }

/** The headers that sign a body. Notifications of tasks have the headers that the client of the protocol chose instead. */
const signatureOf = (secrets: Sealer, row: ClaimedRow, body: Buffer): Record<string, string> => {
  if (row.destination === 'task') return {}
  const key = forwardingKey(secrets.open(row.secret, secretColumns[row.destination].at(row.orgId, row.webhookId)))
  return signStandardWebhook(key, row.eventId, body, Date.now())
}

const send = async (deps: AttemptDeps, { row, url, body, headers }: Attempt, signal: AbortSignal): Promise<Result> => {
  const { outbound, secrets, log } = deps
  const stray = new AbortController()
  const request = async (): Promise<OutboundResponse> => {
    return outbound.request(url, {
      orgId: row.orgId,
      method: 'POST',
      headers: {
        ...headers,
        'user-agent': 'Atrium-Webhooks/1.0',
        ...signatureOf(secrets, row, body),
      },
      body,
      timeoutMs: attemptTimeoutMs,
      maxBytes: maxResponseBytes,
      signal: AbortSignal.any([signal, stray.signal]),
    })
  }
  try {
    const unit = { kind: 'delivery', id: row.id, orgId: row.orgId } as const
    return { response: await runUnit(unit, (reason) => stray.abort(reason), request) }
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof OutboundError) return { error: error.message, failure: error.reason }
    log.error({ err: error, webhookId: row.webhookId, deliveryId: row.id }, 'delivery attempt failed unexpectedly')
    return { error: 'The request could not be sent.', failure: undefined }
  }
}

type AttemptOutcome = Omit<Outcome, 'chain'> & Pick<PreparedEvent, 'chain'>

/** The outcome of a delivery for which no request was sent. */
const unsent = (
  row: ClaimedRow,
  kind: 'failed' | 'released',
  error: string | null,
  delaySeconds: number = 0,
): AttemptOutcome => ({
  ...row,
  kind,
  delaySeconds,
  attempt: null,
  response: null,
  error,
  disableReason: null,
  failingSince: null,
  durationMs: 0,
})

const errorOf = (result: Result): string | null => {
  if (result.response === undefined) return result.error
  const { status } = result.response
  return status >= 200 && status < 300 ? null : `The endpoint responded with ${status}.`
}

const permanent = new Set<string | undefined>(['blocked', 'invalid_url', 'unprepared'])

/** Whether a retry is pointless: the endpoint responded with 410, or the URL or the transform has to be changed first. */
const isPermanent = (result: Result): boolean =>
  result.response === undefined ? permanent.has(result.failure) : result.response.status === goneStatus

type Begun = Pick<Attempt, 'row' | 'url' | 'startedAt'>

const toOutcome = ({ row, url, startedAt }: Begun, result: Result, schedule: readonly number[]): AttemptOutcome => {
  const { response } = result
  const error = errorOf(result)
  const succeeded = error === null
  const number = row.attemptCount + 1
  const delaySeconds = isPermanent(result)
    ? undefined
    : nextDelaySeconds(schedule, { attempts: number, response, nowMs: Date.now(), random: Math.random() })
  const durationMs = Math.max(0, Date.now() - startedAt.getTime())
  const attempt: AttemptRecord = {
    number,
    trigger: row.manual ? 'manual' : 'automatic',
    at: startedAt.toISOString(),
    durationMs,
    url,
    responseStatus: response?.status ?? null,
    error,
  }
  return {
    ...row,
    kind: succeeded ? 'succeeded' : delaySeconds === undefined ? 'failed' : 'retry',
    delaySeconds: delaySeconds ?? 0,
    attempt: JSON.stringify(attempt),
    url,
    response: response ? JSON.stringify(recordOf(response)) : null,
    error,
    ...disablingBy(row, { succeeded, status: response?.status }),
    durationMs,
  }
}

const forwarded = (row: ClaimedRow): Prepared =>
  hopsOf(row.headers) >= maxForwards
    ? { error: `Loop detected: the event has passed through ${maxForwards} webhooks.` }
    : { body: row.body, headers: forwardingHeaders(row) }

const prepare = (deps: AttemptDeps, row: ClaimedRow): Prepared | Promise<Prepared> => {
  if (row.destination === 'endpoint') return deps.prepareEvent(row)
  return row.destination === 'task' ? deps.prepareTask(row) : forwarded(row)
}

/** Delay of a delivery whose event could not be read, because the database was not available. */
const unreadableSeconds = 1

export interface AttemptOptions {
  /** Ends the attempt, and the delivery is released. */
  signal: AbortSignal
  /** Called with the length of the body before it is sent. */
  onBody: (bytes: number) => void
}

const attempt = async (
  deps: AttemptDeps,
  row: ClaimedRow,
  { signal, onBody }: AttemptOptions,
): Promise<AttemptOutcome> => {
  const { url } = row
  if (url === null) return unsent(row, 'failed', 'The webhook no longer has a destination.')
  const askedAt = new Date()
  let prepared: Prepared
  try {
    prepared = await prepare(deps, row)
  } catch (error) {
    deps.log.warn({ err: error, webhookId: row.webhookId, deliveryId: row.id }, 'an event could not be read yet')
    return unsent(row, 'released', null, unreadableSeconds)
  }
  if (prepared === 'postponed') return unsent(row, 'released', null, unreadableSeconds)
  if ('error' in prepared) {
    const { error, isAttempt } = prepared
    if (isAttempt !== true) return unsent(row, 'failed', error)
    return toOutcome({ row, url, startedAt: askedAt }, { error, failure: 'unprepared' }, deps.schedule)
  }
  const { body, headers, chain } = prepared
  if (body === null) return unsent(row, 'failed', 'The event was deleted at the end of its retention period.')
  onBody(body.length)
  const begun = { row, url, body, headers, startedAt: new Date() }
  try {
    return { ...toOutcome(begun, await send(deps, begun, signal), deps.schedule), ...(chain && { chain }) }
  } catch {
    return unsent(row, 'released', null)
  }
}

/** Attempts a delivery once. Never rejects. */
export const attemptDelivery = async (
  deps: AttemptDeps,
  row: ClaimedRow,
  options: AttemptOptions,
): Promise<Outcome> => {
  const header = row.headers?.[chainHeader]
  const received = header === undefined ? undefined : deps.chains.parse(row.orgId, header)
  const { chain = received, ...outcome } = await attempt(deps, row, options)
  return { ...outcome, chain }
}
