import type { Log } from '../../platform/process/log.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound, OutboundFailure, OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { signStandardWebhook } from '../../platform/signatures/standard-webhooks.ts'
import { runUnit } from '../../platform/process/units.ts'
import type { AttemptRecord, ResponseRecord } from './queries.ts'
import { hopsHeader, hopsOf, maxHops } from './hops.ts'
import { storable } from '../receive/payload.ts'
import type { ClaimedRow, Outcome } from './queue-queries.ts'
import { nextDelaySeconds } from './schedule.ts'
import { forwardingKey, webhookSecretColumn } from '../secrets.ts'

export interface AttemptDeps {
  secrets: Sealer
  outbound: Outbound
  log: Log
  /** Seconds before each retry. */
  schedule: readonly number[]
}

export const attemptTimeoutMs = 15_000
const readBytes = 16_384
const shownBytes = 4_096
const maxHeaders = 50
const maxHeader = 512
const gone = 410

/** What the provider said of the event, which the receiver may need to understand it. */
const passedOn =
  /^(x-github-(event|delivery)|x-gitlab-event(-uuid)?|x-shopify-(topic|shop-domain|api-version)|linear-(event|delivery)|x-atlassian-webhook-identifier)$/

const headersOf = (row: ClaimedRow, body: Buffer, key: Buffer): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(row.headers ?? {}).filter(([name]) => passedOn.test(name))),
  ...(row.contentType === null ? {} : { 'content-type': row.contentType }),
  'user-agent': 'Atrium-Webhooks/1.0',
  [hopsHeader]: String(hopsOf(row.headers) + 1),
  ...signStandardWebhook(key, row.eventId, body, Date.now()),
})

const isPrivate = (name: string): boolean => /cookie|authorization|authenticate|token|secret|api-?key/.test(name)

/** As many whole characters as fit. */
const cut = (text: string, bytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read)

const shown = (answer: OutboundResponse): ResponseRecord => {
  const text = answer.body.toString('utf8')
  const body = cut(storable(text, shownBytes), shownBytes)
  const headers = Object.entries(answer.headers)
    .filter(([name]) => !isPrivate(name))
    .slice(0, maxHeaders)
    .map(([name, value]) => [storable(name, maxHeader), storable(value, maxHeader)])
  return {
    status: answer.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body,
    truncated: answer.truncated || body.length < text.length,
    durationMs: answer.durationMs,
  }
}

type Result = { answer: OutboundResponse } | { answer?: undefined; error: string; reason: OutboundFailure | undefined }

const send = async (
  { outbound, secrets, log }: AttemptDeps,
  row: ClaimedRow,
  url: string,
  body: Buffer,
  signal: AbortSignal,
): Promise<Result> => {
  const stray = new AbortController()
  const request = async (): Promise<OutboundResponse> => {
    const key = forwardingKey(secrets.open(row.secret, webhookSecretColumn.at(row.orgId, row.webhookId)))
    return outbound.request(url, {
      orgId: row.orgId,
      method: 'POST',
      headers: headersOf(row, body, key),
      body,
      timeoutMs: attemptTimeoutMs,
      maxBytes: readBytes,
      signal: AbortSignal.any([signal, stray.signal]),
    })
  }
  try {
    const unit = { kind: 'delivery', id: row.id, orgId: row.orgId } as const
    return { answer: await runUnit(unit, (reason) => stray.abort(reason), request) }
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof OutboundError) {
      return { error: error.message, reason: error.reason }
    }
    log.error({ err: error, webhookId: row.webhookId, deliveryId: row.id }, 'a delivery could not be attempted')
    return { error: 'The request could not be made.', reason: undefined }
  }
}

const ended = (row: ClaimedRow, error: string): Outcome => ({
  ...row,
  kind: 'failed',
  delaySeconds: 0,
  attempt: null,
  response: null,
  error,
  gone: false,
  durationMs: 0,
})

const released = (row: ClaimedRow): Outcome => ({ ...ended(row, ''), kind: 'released', error: null })

const isSuccess = (answer: OutboundResponse | undefined): boolean =>
  answer !== undefined && answer.status >= 200 && answer.status < 300

const judge = (row: ClaimedRow, url: string, began: Date, result: Result, schedule: readonly number[]): Outcome => {
  const { answer } = result
  const number = row.attemptCount + 1
  const succeeded = isSuccess(answer)
  const error = result.answer ? (succeeded ? null : `The receiver answered ${result.answer.status}.`) : result.error
  const reason = result.answer ? undefined : result.reason
  // Waiting does not make a private address public; a person has to change the URL first.
  const isHopeless = answer?.status === gone || reason === 'blocked' || reason === 'invalid_url'
  const delaySeconds = isHopeless
    ? undefined
    : nextDelaySeconds(schedule, { attempts: number, response: answer, nowMs: Date.now(), random: Math.random() })
  const attempt: AttemptRecord = {
    number,
    trigger: row.manual ? 'manual' : 'automatic',
    at: began.toISOString(),
    durationMs: Math.max(0, Date.now() - began.getTime()),
    url,
    responseStatus: answer?.status ?? null,
    error,
  }
  return {
    ...row,
    kind: succeeded ? 'succeeded' : delaySeconds === undefined ? 'failed' : 'retry',
    delaySeconds: delaySeconds ?? 0,
    attempt: JSON.stringify(attempt),
    url,
    response: answer ? JSON.stringify(shown(answer)) : null,
    error,
    gone: answer?.status === gone,
    durationMs: attempt.durationMs,
  }
}

/** Sends a delivery once and says what came of it. Never rejects; when `signal` is aborted, nothing was tried. */
export const attemptDelivery = async (deps: AttemptDeps, row: ClaimedRow, signal: AbortSignal): Promise<Outcome> => {
  if (row.url === null) return ended(row, 'The webhook forwards nowhere any more.')
  if (row.body === null) return ended(row, 'The event is past its retention.')
  if (hopsOf(row.headers) >= maxHops) {
    return ended(row, `It came through ${maxHops} webhooks already: it goes in a circle, which ends here.`)
  }
  const began = new Date()
  try {
    return judge(row, row.url, began, await send(deps, row, row.url, row.body, signal), deps.schedule)
  } catch {
    return released(row)
  }
}
