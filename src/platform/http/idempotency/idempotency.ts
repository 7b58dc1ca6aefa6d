/**
 * `Idempotency-Key` on every authenticated POST: the same key with the same request is executed once and gets the same
 * response for 24 hours, also after crashes.
 *
 * A hook claims the key in its own transaction. Every transaction of `request.db` first marks the claim as `committed`,
 * so that the effect and its record are one commit. A request that lost its claim finds no row to mark and changes
 * nothing. The response is stored when it is sent; if the process crashes between commit and response, the key stays
 * `committed` and a repeated request is CONFLICT.
 *
 * Requirements for a route:
 * - **Writes use transactions of `request.db`.** Most routes need nothing else.
 * - Secrets in the response: `config.idempotency.omit` lists the dotted paths that are not stored.
 * - Streamed responses (SSE): `await request.storeResponse(status, body)` stores the response of a replay. Without it, a
 *   replay is CONFLICT.
 * - Streamed bodies (multipart): `config: { idempotency: { streamed: true } }`. The hook does not know the body, so the
 *   handler reads it, hashes its fields and bytes, and calls `await request.settleFingerprint(digest)` before its first
 *   transaction. On a replay, `request.replay` is set from the start: read and hash only, write nothing, settle, then
 *   `return sendReplay(reply, request.replay)`. Settling rejects with CONFLICT when the key was used for another body. A
 *   request that ends without settling is not stored. JSON bodies on such a route are settled already, and `replay` is
 *   never set.
 * - Long responses: with `config: { idempotency: { resumes: true } }` the handler responds to a repeated request itself,
 *   from `request.replay`, which it stored early by `storeResponse`. It must not write then.
 * - Large responses: `config.idempotency.maxStoredBytes`. A longer response is not stored, and a replay is CONFLICT.
 * - `config: { idempotency: false }` disables it for a route.
 *
 * A key belongs to its user, method and route pattern within the org, so another member with the same key never gets the
 * response. The workspace and the scopes of the API key are part of the fingerprint of a request.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Database } from '../../database/database.ts'
import { sqlState } from '../../database/errors.ts'
import { badRequest, conflict } from '../errors.ts'
import type { App } from '../http.ts'
import type { KeyRow, KeyScope } from './queries.ts'
import * as queries from './queries.ts'
import { defineJob } from '../../jobs/jobs.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Log } from '../../process/log.ts'

/** The response of the first request, without the omitted paths. */
export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: string
}

export interface IdempotencyConfig {
  /** How long a crashed request keeps the key. Default: 60 s. A running request renews its claim. */
  claimSeconds?: number
  /** Paths such as `data.secret` that are not stored. */
  omit?: string[]
  /** A longer response is not stored. Default: no limit. */
  maxStoredBytes?: number
  /** The handler reads the body itself and settles the fingerprint. */
  streamed?: true
  /** The handler continues the response of the first request. */
  resumes?: true
}

interface Claim {
  scope: KeyScope
  token: string
  /** The digest of the request without its body. */
  base: Buffer
  /** Null until the body is known. */
  fingerprint: Buffer | null
  db: Database
  /** Ended: the key must not be written any more. */
  settled: boolean
  /** Failed temporarily: the outcome must not be replayed. */
  transient: boolean
  stopRenewal: () => void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    idempotency?: IdempotencyConfig | false
  }
  interface FastifyRequest {
    /** The database of this request, whose transactions mark the idempotency key as committed. */
    readonly db: Database
    /** On a streamed route: the response to replay after settling the fingerprint. On one that resumes: the stored one. */
    replay: StoredResponse | undefined
    /** On a streamed route: sets the digest of the body. Throws CONFLICT when the key was used for another body. */
    settleFingerprint(digest: Buffer): Promise<void>
    /** For a streamed response: stores the response of a replay. Does nothing without a key. */
    storeResponse(status: number, body: object): Promise<void>
    idempotencyClaim: Claim | undefined
    /** The key's fingerprint and the request's without its body, until a replay is settled. */
    replayOf: { stored: Buffer | null; base: Buffer } | undefined
  }
}

interface Caller {
  orgId: string
  userId: string
  workspaceId: string | null
  apiKey: { scopes: readonly string[] } | null
}

export interface IdempotencyOptions {
  db: Database
  log: Log
  /** The caller, the workspace and the scopes of the API key; undefined on a public route. */
  callerOf: (request: FastifyRequest) => Caller | undefined
}

const defaultClaimSeconds = 60
const maxRenewals = 200
const maxKeyLength = 255
const keptHeaders = ['content-type', 'location', 'etag']
/** Outcomes of started work, which are stored. Earlier rejections and internal errors free the key. */
const keptStatuses = new Set([402, 409, 422])
const transientStates = new Set(['23503', '40001', '40P01', '55P03'])

const otherRequest = () =>
  conflict('This Idempotency-Key was used for another request. Use a new key for a new request.')
const stillRunning = () =>
  conflict('A request with this Idempotency-Key is still running. Try again shortly.', {
    headers: { 'retry-after': '1' },
  })
const carriedOut = () =>
  conflict(
    'The request with this Idempotency-Key was executed, but its response is not available. Read the resource to see the result.',
  )
const claimLost = () =>
  conflict('This request took so long that another one with the same Idempotency-Key took over. It changed nothing.')

const digestOf = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest()
}

const keyOf = (request: FastifyRequest): string | undefined => {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || key.length === 0 || key.length > maxKeyLength) {
    throw badRequest(`Idempotency-Key must be 1–${maxKeyLength} characters`)
  }
  return key
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const bodyFingerprint = (request: FastifyRequest, base: Buffer, config: IdempotencyConfig): Buffer | null => {
  if (request.rawBody !== undefined || !hasBody(request)) return digestOf(base, request.rawBody ?? '')
  if (config.streamed) return null
  throw badRequest('Idempotency-Key requires a JSON body on this route')
}

const differ = (stored: Buffer | null, given: Buffer | null): boolean =>
  stored !== null && given !== null && !stored.equals(given)

/** Claims the key, or returns the row of the request that has it. */
const claimKey = async (db: Database, claim: Claim, seconds: number): Promise<KeyRow | undefined> => {
  const { scope, token, fingerprint } = claim
  const wanted = { claim: token, fingerprint, claimSeconds: seconds }
  // Tries again when the key was freed or taken over between two statements.
  for (let tries = 0; tries < 5; tries++) {
    if (await queries.insertClaim(db, scope, wanted)) return undefined
    const row = await queries.findKey(db, scope)
    if (!row) continue
    const isAbandoned = row.state === 'running' && !row.isClaimed && !differ(row.fingerprint, fingerprint)
    if (!row.isExpired && !isAbandoned) return row
    if (await queries.replaceClaim(db, scope, row, wanted)) return undefined
  }
  throw stillRunning()
}

const responseOf = ({ status, headers, body }: KeyRow): StoredResponse | undefined =>
  status === null || headers === null || body === null ? undefined : { status, headers, body }

const withoutPaths = (body: string, paths: string[]): string => {
  if (paths.length === 0 || body === '') return body
  const value: unknown = JSON.parse(body)
  for (const path of paths) {
    const names = path.split('.')
    const last = names.pop() as string
    let at: unknown = value
    for (const name of names)
      at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined
    if (typeof at === 'object' && at !== null) delete (at as Record<string, unknown>)[last]
  }
  return JSON.stringify(value)
}

const headersOf = (reply: FastifyReply): Record<string, string> =>
  Object.fromEntries(
    keptHeaders.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [])),
  )

/** Sends the stored response. */
export const sendReplay = (reply: FastifyReply, stored: StoredResponse): FastifyReply =>
  reply.code(stored.status).headers(stored.headers).header('idempotency-replayed', 'true').send(stored.body)

interface Renewal {
  seconds: number
  log: Log
  reply: FastifyReply
}

/** Renews the claim of a running request. */
const renew = (db: Database, claim: Claim, { seconds, log, reply }: Renewal): void => {
  let renewals = 0
  const timer = setInterval(
    () => {
      renewals += 1
      // A hijacked reply does not run the onSend hook.
      const isOver = reply.sent && reply.raw.closed
      if (isOver || renewals > maxRenewals) claim.stopRenewal()
      else {
        queries.renewClaim(db, claim.scope, claim.token, seconds).then(
          (held) => {
            if (!held) claim.stopRenewal()
          },
          (error: unknown) => log.warn({ err: error }, 'an idempotency key could not be renewed'),
        )
      }
    },
    (seconds * 1_000) / 3,
  ).unref()
  claim.stopRenewal = () => clearInterval(timer)
}

const guardedBy = (db: Database, claim: Claim): Database =>
  db.guarded(async (db) => {
    if (!(await queries.markCommitted(db, claim.scope, claim.token, claim.fingerprint))) throw claimLost()
  })

const isKept = (status: number): boolean => (status >= 200 && status < 300) || keptStatuses.has(status)

interface EndOptions {
  db: Database
  omit: string[]
  maxStoredBytes: number
}

const isStorable = (payload: unknown, maxBytes: number): payload is string | Buffer | undefined | null =>
  payload === undefined ||
  payload === null ||
  ((typeof payload === 'string' || Buffer.isBuffer(payload)) && Buffer.byteLength(payload) <= maxBytes)

/** Stores the outcome of the request. */
const endClaim = async (claim: Claim, reply: FastifyReply, payload: unknown, options: EndOptions) => {
  const { db, omit, maxStoredBytes } = options
  const { scope, token, fingerprint } = claim
  if (claim.transient || fingerprint === null || !isKept(reply.statusCode)) {
    // Committed work stays, and a repeated request is CONFLICT.
    if ((await queries.deleteUnused(db, scope, token)) === 0) await queries.endClaim(db, scope, token, fingerprint)
  } else if (isStorable(payload, maxStoredBytes)) {
    const body = withoutPaths(payload?.toString() ?? '', omit)
    const response = { status: reply.statusCode, headers: headersOf(reply), body }
    await queries.storeResponse(db, scope, { claim: token, fingerprint }, response)
  } else await queries.endClaim(db, scope, token, fingerprint)
}

const needsCaller = (route: RouteOptions): boolean =>
  (route.config as { access?: string } | undefined)?.access !== 'public'

const createHooks = ({ db, log, callerOf }: IdempotencyOptions, config: IdempotencyConfig) => {
  const seconds = config.claimSeconds ?? defaultClaimSeconds

  const begin = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const key = keyOf(request)
    const caller = key === undefined ? undefined : callerOf(request)
    if (key === undefined || caller === undefined) return undefined
    const { orgId, userId, workspaceId, apiKey } = caller
    // A key with fewer permissions gets no response of one with more.
    const scopes = [...(apiKey?.scopes ?? [])].toSorted()
    const base = digestOf(request.method, request.url, workspaceId ?? '', ...scopes)
    const claim: Claim = {
      scope: { orgId, userId, method: request.method, route: request.routeOptions.url ?? '', key },
      token: randomUUID(),
      base,
      fingerprint: bodyFingerprint(request, base, config),
      db,
      settled: false,
      transient: false,
      stopRenewal: () => undefined,
    }
    const row = await claimKey(db, claim, seconds)
    if (row === undefined) {
      claim.db = guardedBy(db, claim)
      renew(db, claim, { seconds, log, reply })
      request.idempotencyClaim = claim
      return undefined
    }
    if (differ(row.fingerprint, claim.fingerprint)) throw otherRequest()
    if (row.state === 'running') throw stillRunning()
    const stored = responseOf(row)
    // The work is committed; its response may still be on the way.
    if (stored === undefined) throw row.isClaimed ? stillRunning() : carriedOut()
    if (claim.fingerprint !== null && !config.resumes) return sendReplay(reply, stored)
    request.replay = stored
    request.replayOf = { stored: row.fingerprint, base }
    return undefined
  }

  const end = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    const claim = request.idempotencyClaim
    if (!claim || claim.settled) return payload
    claim.settled = true
    claim.stopRenewal()
    try {
      const { omit = [], maxStoredBytes = Infinity } = config
      await endClaim(claim, reply, payload, { db, omit, maxStoredBytes })
    } catch (error) {
      // The response is sent anyway. The key stays `committed`, or is free when its claim expires.
      log.warn({ err: error, requestId: request.id }, 'the response of an idempotency key could not be stored')
    }
    return payload
  }

  const failed = async (request: FastifyRequest, _reply: FastifyReply, error: unknown): Promise<void> => {
    if (request.idempotencyClaim && transientStates.has(sqlState(error) ?? ''))
      request.idempotencyClaim.transient = true
  }

  return { begin, end, failed }
}

/** Adds the hooks to every POST route that is registered after it and needs a caller. */
export const registerIdempotency = (app: App, options: IdempotencyOptions): void => {
  const { db } = options
  app.decorateRequest('idempotencyClaim', undefined)
  app.decorateRequest('replay', undefined)
  app.decorateRequest('replayOf', undefined)
  app.decorateRequest('db', {
    getter(this: FastifyRequest) {
      return this.idempotencyClaim?.db ?? db
    },
  })
  app.decorateRequest('settleFingerprint', async function settle(this: FastifyRequest, digest) {
    const claim = this.idempotencyClaim
    if (claim) claim.fingerprint = digestOf(claim.base, digest)
    const { replayOf } = this
    if (replayOf && replayOf.stored?.equals(digestOf(replayOf.base, digest)) !== true) throw otherRequest()
  })
  app.decorateRequest('storeResponse', async function store(this: FastifyRequest, status, body) {
    const claim = this.idempotencyClaim
    if (!claim || claim.settled) return
    claim.settled = true
    claim.stopRenewal()
    const config = this.routeOptions.config.idempotency || {}
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const response = { status, headers, body: withoutPaths(JSON.stringify(body), config.omit ?? []) }
    await queries.storeResponse(db, claim.scope, { claim: claim.token, fingerprint: claim.fingerprint }, response)
  })

  app.addHook('onRoute', (route) => {
    const config = route.config?.idempotency ?? {}
    if (config === false || !needsCaller(route) || ![route.method].flat().includes('POST')) return
    const { begin, end, failed } = createHooks(options, config)
    route.preHandler = [begin, ...[route.preHandler ?? []].flat()]
    route.onSend = [...[route.onSend ?? []].flat(), end]
    route.onError = [failed, ...[route.onError ?? []].flat()]
  })
}

/** Deletes keys after 24 hours. */
export const expireKeys = defineJob<Record<string, never>>('idempotency.expire')
const expireBatch = 5_000

/** Runs the job every hour. */
export const registerKeyExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(expireKeys, async () => {
    while ((await queries.deleteExpired(db, expireBatch)) === expireBatch);
  })
  jobs.schedule(expireKeys, '17 * * * *')
}
