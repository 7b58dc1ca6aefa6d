import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemActor } from '../../identity/actor.ts'
import { inChain, receivedChain } from '../../outbox/chain.ts'
import type { ChainHeaders } from '../../outbox/chain.ts'
import { outboxRow } from '../../outbox/record.ts'
import type { Database } from '../../platform/database/database.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import { notFound, serviceUnavailable, unauthorized } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import { ok } from '../../platform/http/schemas.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { sha256 } from '../../platform/signatures/signed-request.ts'
import { jsonResponse } from '../../providers/provider.ts'
import type { ChatAdapter, Credentials, InboundRequest, ProviderResponse } from '../../providers/provider.ts'
import type { ChatAdapters } from '../../providers/providers.ts'
import * as queries from './queries.ts'
import type { EndpointRow, OpenEndpointRow } from './queries.ts'
import { endpointSecretColumn, replyToColumn } from './secrets.ts'
import type { NewConnectorEvent } from './event-queries.ts'
import { keyOf } from './inbox.ts'
import type { Inbox } from './inbox.ts'

/** For how many days events are listed and duplicates are recognized. */
export interface RetentionSettings {
  retention: { connectorEventsDays: number }
}

export interface ReceiveDeps {
  db: Database
  log: Log
  secrets: Sealer
  chains: ChainHeaders
  adapters: ChatAdapters
  inbox: Inbox
  readEndpoint: ReadEndpoint
}

/** A request to an endpoint before verification. */
export interface EndpointRequest {
  endpoint: OpenEndpoint
  headers: IncomingHttpHeaders
  body: Buffer
  /** The query with its question mark; empty if there is none. */
  query: string
  nowMs: number
  /**
   * Counts the request against the rate limit of verified or unverified requests, or of those that deliveries of Atrium
   * cause; rejects when it is used up.
   */
  count(as: 'verified' | 'unverified' | 'chained'): Promise<void>
}

const what = 'Endpoint'
/** The limit of a message in the API. */
const maxMessage = 100_000

const receipt = (duplicate: boolean): ProviderResponse => jsonResponse(ok({ received: true, duplicate }))

const credentialsOf = (secrets: Sealer, { orgId, id, secret, settings }: EndpointRow): Credentials => ({
  ...settings,
  secret: secret === null ? '' : secrets.open(secret, endpointSecretColumn.at(orgId, id)),
})

/** An active endpoint with its decrypted secret. */
export interface OpenEndpoint {
  row: OpenEndpointRow
  credentials: Credentials
}

/** Reads active endpoints by id. */
export type ReadEndpoint = (id: string) => Promise<OpenEndpoint | undefined>

/**
 * Requests to one endpoint that arrive in the same iteration of the event loop share a database read. The read starts
 * after all of them have arrived, so that no request gets data from before its arrival.
 */
export const createEndpointReader = ({ db, secrets }: { db: Database; secrets: Sealer }): ReadEndpoint => {
  const reads = new Map<string, Promise<OpenEndpoint | undefined>>()
  const read = async (id: string): Promise<OpenEndpoint | undefined> => {
    await nextTurn()
    reads.delete(id)
    const row = await queries.findOpenEndpoint(db.hot, id)
    return row && { row, credentials: credentialsOf(secrets, row) }
  }
  return (id) => {
    const pending = reads.get(id) ?? read(id)
    reads.set(id, pending)
    return pending
  }
}

/** NOT_FOUND unless there is an active endpoint of this provider with the id. */
export const getEndpoint = async (
  { readEndpoint }: Pick<ReceiveDeps, 'readEndpoint'>,
  { provider, endpointId }: { provider: string; endpointId: string },
): Promise<OpenEndpoint> => {
  const endpoint = isUuid(endpointId) ? await readEndpoint(endpointId.toLowerCase()) : undefined
  if (endpoint?.row.provider !== provider) throw notFound(what)
  return endpoint
}

const bodyHash = ({ body }: InboundRequest): string => `sha256:${sha256(body).toString('hex')}`

/** The stored part of a verified event: its ids and type and, for a message, the data that the agent's turn needs. */
const toEvent = (
  secrets: Sealer,
  { orgId, id, agentId, userId, workspaceId, settings, accountName }: OpenEndpointRow,
  adapter: ChatAdapter,
  { payload, request }: { payload: unknown; request: InboundRequest },
): NewConnectorEvent => {
  const providerId = adapter.eventId(payload, request)
  const externalId = keyOf(providerId ?? bodyHash(request))
  // The account at GitHub may be another one since the endpoint was set up.
  const ownIds = [...(settings.ownIds ?? []), ...(accountName === null ? [] : [accountName])]
  const message = adapter.toMessage(payload, request, ownIds)
  const startsTurn = message !== undefined && agentId !== null
  const at = replyToColumn.at(orgId, id, externalId)
  const unsigned = adapter.sameBody !== undefined && providerId !== undefined ? bodyHash(request) : undefined
  const secondId = unsigned ?? message?.secondId
  const type = adapter.eventType(payload, request).slice(0, 200)
  const received = outboxRow(systemActor(orgId, 'Connectors'), {
    type: 'connector.event.received',
    subjectId: id,
    workspaceId,
    ownerId: userId,
    data: { endpointId: id, eventType: type, externalId },
  })
  return {
    orgId,
    endpointId: id,
    externalId,
    secondId: secondId === undefined ? null : keyOf(secondId),
    type,
    state: startsTurn ? 'waiting' : 'recorded',
    chat: startsTurn ? keyOf(message.chat) : null,
    position: startsTurn ? (message.position ?? null) : null,
    sender: startsTurn ? message.sender.slice(0, 200).toWellFormed() : null,
    title: startsTurn ? message.title.slice(0, 200).toWellFormed() : null,
    message: startsTurn ? message.text.slice(0, maxMessage).toWellFormed() : null,
    replyTo: startsTurn && adapter.reply ? secrets.seal(JSON.stringify(message.replyTo), at) : null,
    received: { ...received, key: externalId },
  }
}

const store = async (inbox: Inbox, event: NewConnectorEvent): Promise<boolean> => {
  try {
    return await inbox.store(event)
  } catch (error) {
    // The endpoint was deleted in the meantime.
    if (violatedConstraint(error)?.endsWith('_fkey')) throw notFound(what, { cause: error })
    // SERVICE_UNAVAILABLE makes the provider retry.
    throw serviceUnavailable('The event could not be stored. Send it again.', { cause: error })
  }
}

/**
 * Receives a request of a provider: UNAUTHORIZED unless it is verified, BAD_REQUEST if its body is not one of the
 * provider's formats. An event of another account than that of the connection gets an empty response, because the provider
 * would repeat it after an error. Returns the response after the event has been stored with the job that it needs; a
 * duplicate gets the same response and is not stored. SERVICE_UNAVAILABLE if it cannot be stored, so that the provider
 * retries.
 */
export const receive = async (deps: ReceiveDeps, received: EndpointRequest): Promise<ProviderResponse> => {
  const { adapters, chains, inbox, log, secrets } = deps
  const { headers, body, query, nowMs } = received
  const { row: endpoint, credentials } = received.endpoint
  const adapter = adapters.get(endpoint.provider)
  if (!adapter) throw notFound(what)
  // The stored URL, never one from the Host header: Twilio and Google sign the URL that they were given.
  const request: InboundRequest = { headers, body, url: endpoint.url + query, nowMs }
  const verdict = await adapter.verify(request, credentials)
  if (!verdict.valid) {
    log.info({ provider: endpoint.provider, endpointId: endpoint.id, reason: verdict.reason }, 'event rejected')
    await received.count('unverified')
    throw unauthorized("The request does not pass the provider's signature verification.")
  }
  await received.count('verified')
  const payload = adapter.parse(request)
  if (adapter.isPing?.(request) === true) return { status: 200, body: '' }
  const handshake = adapter.handshake?.(payload)
  if (handshake) return handshake
  if (endpoint.accountId !== null && adapter.isOf?.(payload, endpoint.accountId) === false) {
    log.info({ provider: endpoint.provider, endpointId: endpoint.id }, 'an event of another account was ignored')
    return { status: 200, body: '' }
  }
  const chain = receivedChain(chains, endpoint.orgId, headers)
  if (chain) await received.count('chained')
  const event = inChain(chain, () => toEvent(secrets, endpoint, adapter, { payload, request }))
  const isNew = await store(inbox, event)
  return adapter.acknowledge?.(payload) ?? receipt(!isNew)
}
