import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import { notFound, serviceUnavailable, unauthorized } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import { ok } from '../../platform/http/schemas.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { sha256 } from '../../platform/signatures/signed-request.ts'
import * as queries from './queries.ts'
import type { EndpointRow } from './queries.ts'
import { endpointSecretColumn, replyToColumn } from './secrets.ts'
import type { NewEvent } from './event-queries.ts'
import { keyOf } from './inbox.ts'
import type { Inbox } from './inbox.ts'
import type { Answer, Credential, Inbound, Receiver } from '../receivers/receiver.ts'
import type { Receivers } from '../receivers/receivers.ts'

export interface ReceiveDeps {
  db: Database
  log: Log
  secrets: Sealer
  receivers: Receivers
  inbox: Inbox
  readEndpoint: ReadEndpoint
}

/** A request to an endpoint, as it came. */
export interface Arrived {
  endpoint: OpenEndpoint
  headers: IncomingHttpHeaders
  body: Buffer
  /** What follows the path, with its question mark; empty when nothing does. */
  query: string
  nowMs: number
  /** Counts the request against the limit of what it turned out to be; rejects when that is used up. */
  count(as: 'verified' | 'unverified'): Promise<void>
}

const what = 'Endpoint'
/** As much as a turn takes by the API, too. */
const maxMessage = 100_000

const receivedAnswer = (duplicate: boolean): Answer => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(ok({ received: true, duplicate })),
})

const credentialOf = (secrets: Sealer, { orgId, id, url, secret, settings }: EndpointRow): Credential => ({
  url,
  settings,
  secret: secret === null ? '' : secrets.open(secret, endpointSecretColumn.at(orgId, id)),
})

/** An endpoint that takes events, with its secret open. */
export interface OpenEndpoint {
  row: EndpointRow
  credential: Credential
}

/** Reads open endpoints by their id. */
export type ReadEndpoint = (id: string) => Promise<OpenEndpoint | undefined>

/**
 * Requests to one endpoint that arrive in one turn of the event loop share a read, which is sent when all of them are
 * there: so none sees what was true before it came, and a burst costs one read for many.
 */
export const createEndpointReader = ({ db, secrets }: { db: Database; secrets: Sealer }): ReadEndpoint => {
  const reads = new Map<string, Promise<OpenEndpoint | undefined>>()
  const read = async (id: string): Promise<OpenEndpoint | undefined> => {
    await nextTurn()
    reads.delete(id)
    const row = await queries.findOpenEndpoint(db.hot, id)
    return row && { row, credential: credentialOf(secrets, row) }
  }
  return (id) => {
    const begun = reads.get(id) ?? read(id)
    reads.set(id, begun)
    return begun
  }
}

/** NOT_FOUND unless the endpoint is there, open, and of this provider. */
export const getEndpoint = async (
  { readEndpoint }: Pick<ReceiveDeps, 'readEndpoint'>,
  { provider, endpointId }: { provider: string; endpointId: string },
): Promise<OpenEndpoint> => {
  const endpoint = isUuid(endpointId) ? await readEndpoint(endpointId.toLowerCase()) : undefined
  if (endpoint?.row.provider !== provider) throw notFound(what)
  return endpoint
}

const bodyHash = ({ body }: Inbound): string => `sha256:${sha256(body).toString('hex')}`

/** What is stored of a verified event: of what somebody said only what its turn needs, and nothing of the rest. */
const toEvent = (
  { secrets }: ReceiveDeps,
  { orgId, id, agentId }: EndpointRow,
  receiver: Receiver,
  inbound: Inbound,
  payload: unknown,
  credential: Credential,
): NewEvent => {
  const providerId = receiver.eventId(payload, inbound)
  const externalId = keyOf(providerId ?? bodyHash(inbound))
  const message = receiver.normalise(payload, inbound, credential)
  const isHeard = message !== undefined && agentId !== null
  const at = replyToColumn.at(orgId, id, externalId)
  const unsigned = receiver.isIdUnsigned && providerId !== undefined ? bodyHash(inbound) : undefined
  const secondId = unsigned ?? message?.secondId
  return {
    orgId,
    endpointId: id,
    externalId,
    secondId: secondId === undefined ? null : keyOf(secondId),
    type: receiver.eventType(payload, inbound).slice(0, 200),
    state: isHeard ? 'waiting' : 'recorded',
    chat: isHeard ? keyOf(message.chat) : null,
    position: isHeard ? (message.position ?? null) : null,
    sender: isHeard ? message.sender.slice(0, 200).toWellFormed() : null,
    title: isHeard ? message.title.slice(0, 200).toWellFormed() : null,
    message: isHeard ? message.text.slice(0, maxMessage).toWellFormed() : null,
    replyTo: isHeard && receiver.reply ? secrets.seal(JSON.stringify(message.replyTo), at) : null,
  }
}

const store = async (inbox: Inbox, event: NewEvent): Promise<boolean> => {
  try {
    return await inbox.store(event)
  } catch (error) {
    // The endpoint went away in the meantime.
    if (violatedConstraint(error)?.endsWith('_fkey')) throw notFound(what, { cause: error })
    // Whatever it was: the provider is to send it again.
    throw serviceUnavailable('The event could not be stored. Send it again.', { cause: error })
  }
}

/**
 * Takes one request of a provider to an open endpoint: UNAUTHORIZED unless the provider proves itself,
 * BAD_REQUEST for what it would not send. An event is answered once it is stored for good, with the job that it needs;
 * one that came before is answered the same and stored no more. SERVICE_UNAVAILABLE when it cannot be stored: the
 * provider sends it again.
 */
export const receive = async (deps: ReceiveDeps, arrived: Arrived): Promise<Answer> => {
  const { log, receivers, inbox } = deps
  const { row: endpoint, credential } = arrived.endpoint
  const receiver = receivers.get(endpoint.provider)
  if (!receiver) throw notFound(what)
  const { headers, body, query, nowMs } = arrived
  const inbound: Inbound = { headers, body, url: endpoint.url + query, nowMs }
  const verdict = await receiver.verify(inbound, credential)
  if (!verdict.valid) {
    log.info({ provider: endpoint.provider, endpointId: endpoint.id, reason: verdict.reason }, 'an event was refused')
    await arrived.count('unverified')
    throw unauthorized('The request is not signed as the provider would sign it.')
  }
  await arrived.count('verified')
  const payload = receiver.parse(inbound)
  const handshake = receiver.handshake?.(payload, inbound)
  if (handshake) return handshake
  const isNew = await store(inbox, toEvent(deps, endpoint, receiver, inbound, payload, credential))
  return receiver.acknowledge?.(payload) ?? receivedAnswer(!isNew)
}
