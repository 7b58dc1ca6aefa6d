/**
 * `Idempotency-Key` on every POST that needs a caller: the same key with the same request is carried out once, and
 * answered alike for 24 hours, whatever crashes in between.
 *
 * How it holds. A hook claims the key in a short transaction of its own. `request.db` then is a database whose every
 * transaction first writes the mark `committed` onto the claim, so the effect and the proof of it are one commit. A
 * request that lost its claim finds no row to mark and changes nothing. The answer is stored as it goes out; if the
 * process dies between the commit and that, the key stays `committed` and a retry is told so.
 *
 * What a route does for it:
 * - **Writes go through `request.db`**, in transactions. That is all for most routes.
 * - Secrets in the answer: `config.idempotency.omit` names the dotted paths that a stored answer leaves out.
 * - Streamed answers (SSE): `await request.storeAnswer(status, body)` says what a replay answers. Without it, a replay
 *   is CONFLICT: "carried out already".
 * - Streamed bodies (multipart): `config: { idempotency: { streamed: true } }`. The hook cannot know the body, so the
 *   handler reads it, hashes everything that matters in it (fields and bytes), and calls
 *   `await request.settleFingerprint(digest)` before its first transaction. On a replay, `request.replay` is set from
 *   the start: read and hash only, write nothing anywhere, settle, then `return sendReplay(reply, request.replay)`.
 *   Settling rejects with CONFLICT when the key was used for another body. A request that ends without settling is
 *   not remembered. JSON bodies on such a route need no care: they are settled already, and `replay` is never set.
 * - Answers that go on for long: with `config: { idempotency: { resumes: true } }` the handler answers a repetition
 *   itself, from what it stored early by `storeAnswer`: `request.replay` is that. It must write nothing then.
 * - `config: { idempotency: false }` takes a route out.
 *
 * A key belongs to its user, method and route pattern within the org: another member who sends the same key is another
 * caller and never gets to see somebody else's answer. The workspace of the call is part of what makes two requests
 * the same.
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

/** What the first request was answered, without what may not be stored. */
export interface StoredAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface IdempotencyConfig {
  /** How long a crashed request keeps the key, 60 by default; one that is alive renews its claim. */
  claimSeconds?: number
  /** Paths such as `data.secret` that a stored answer leaves out. */
  omit?: string[]
  /** The handler reads the body itself and settles the fingerprint. */
  streamed?: true
  /** The handler takes up what the first request began. */
  resumes?: true
}

interface Claim {
  scope: KeyScope
  token: string
  /** What the request is, apart from a body that is not read yet. */
  base: Buffer
  /** Null until the body is known. */
  fingerprint: Buffer | null
  db: Database
  /** Ended: nothing more is to be written to the key. */
  settled: boolean
  /** Failed on something that passes: not an outcome to repeat. */
  transient: boolean
  stopRenewal: () => void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    idempotency?: IdempotencyConfig | false
  }
  interface FastifyRequest {
    /** The database of this request: what it writes carries the mark of the request's idempotency key. */
    readonly db: Database
    /** On a streamed route: the answer to repeat, once the fingerprint is settled. On one that resumes: what it stored. */
    replay: StoredAnswer | undefined
    /** On a streamed route: tells what the body was. CONFLICT when the key stands for another one. */
    settleFingerprint(digest: Buffer): Promise<void>
    /** For an answer that is streamed: what a replay answers instead. Does nothing without a key. */
    storeAnswer(status: number, body: object): Promise<void>
    idempotencyClaim: Claim | undefined
    /** The key's fingerprint and the request's without its body, until a replay is settled. */
    replayOf: { stored: Buffer | null; base: Buffer } | undefined
  }
}

export interface IdempotencyOptions {
  db: Database
  log: Log
  /** Who is calling, in which workspace; undefined on a public route. */
  callerOf: (request: FastifyRequest) => { orgId: string; userId: string; workspaceId: string | null } | undefined
}

const defaultClaimSeconds = 60
const maxRenewals = 200
const maxKeyLength = 255
const keptHeaders = ['content-type', 'location', 'etag']
/** Outcomes of work that began. Refusals before it, and failures, leave the key free. */
const keptStatuses = new Set([402, 409, 422])
const transientStates = new Set(['40001', '40P01', '55P03'])

const otherRequest = () =>
  conflict('This Idempotency-Key was used for another request. Use a new key for a new request.')
const stillRunning = () =>
  conflict('A request with this Idempotency-Key is still being carried out. Try again shortly.', {
    headers: { 'retry-after': '1' },
  })
const carriedOut = () =>
  conflict(
    'The request with this Idempotency-Key was carried out, but its answer is not available. Read the resource to see the result.',
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
    throw badRequest(`Idempotency-Key must have 1 to ${maxKeyLength} characters`)
  }
  return key
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const bodyFingerprint = (request: FastifyRequest, base: Buffer, config: IdempotencyConfig): Buffer | null => {
  if (request.rawBody !== undefined || !hasBody(request)) return digestOf(base, request.rawBody ?? '')
  if (config.streamed) return null
  throw badRequest('An Idempotency-Key needs a JSON body here')
}

const differ = (stored: Buffer | null, given: Buffer | null): boolean =>
  stored !== null && given !== null && !stored.equals(given)

/** Claims the key, or answers the row of whoever has it. */
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

const answerOf = ({ status, headers, body }: KeyRow): StoredAnswer | undefined =>
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

/** Answers what the first request was answered. */
export const sendReplay = (reply: FastifyReply, answer: StoredAnswer): FastifyReply =>
  reply.code(answer.status).headers(answer.headers).header('idempotency-replayed', 'true').send(answer.body)

/** Keeps the claim of a request that is still at it. */
const renew = (db: Database, claim: Claim, seconds: number, log: Log): void => {
  let renewals = 0
  const timer = setInterval(
    () => {
      renewals += 1
      if (renewals > maxRenewals) claim.stopRenewal()
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
}

/** Stores the outcome of the request. */
const endClaim = async (claim: Claim, reply: FastifyReply, payload: unknown, { db, omit }: EndOptions) => {
  const { scope, token, fingerprint } = claim
  if (claim.transient || fingerprint === null || !isKept(reply.statusCode)) {
    // What was committed all the same stays, and whoever asks again is told.
    if ((await queries.deleteUnused(db, scope, token)) === 0) await queries.endClaim(db, scope, token, fingerprint)
  } else if (payload === undefined || payload === null || typeof payload === 'string' || Buffer.isBuffer(payload)) {
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
    const { orgId, userId, workspaceId } = caller
    const base = digestOf(request.method, request.url, workspaceId ?? '')
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
      renew(db, claim, seconds, log)
      request.idempotencyClaim = claim
      // A hijacked reply passes no onSend hook.
      reply.raw.once('close', () => {
        if (reply.sent) claim.stopRenewal()
      })
      return undefined
    }
    if (differ(row.fingerprint, claim.fingerprint)) throw otherRequest()
    if (row.state === 'running') throw stillRunning()
    const answer = answerOf(row)
    // Its work is done; its answer may still be on the way.
    if (answer === undefined) throw row.isClaimed ? stillRunning() : carriedOut()
    if (claim.fingerprint !== null && !config.resumes) return sendReplay(reply, answer)
    request.replay = answer
    request.replayOf = { stored: row.fingerprint, base }
    return undefined
  }

  const end = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    const claim = request.idempotencyClaim
    if (!claim || claim.settled) return payload
    claim.settled = true
    claim.stopRenewal()
    try {
      await endClaim(claim, reply, payload, { db, omit: config.omit ?? [] })
    } catch (error) {
      // The answer is true all the same. The key stays `committed`, or is free again when its claim runs out.
      log.warn({ err: error, requestId: request.id }, 'the answer under an idempotency key could not be stored')
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
  app.decorateRequest('storeAnswer', async function store(this: FastifyRequest, status, body) {
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

/** Removes keys after their 24 hours. */
export const expireKeys = defineJob<Record<string, never>>('idempotency.expire')
const expireBatch = 5_000

/** Works on it, every hour. */
export const registerKeyExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(expireKeys, async () => {
    while ((await queries.deleteExpired(db, expireBatch)) === expireBatch);
  })
  jobs.schedule(expireKeys, '17 * * * *')
}
