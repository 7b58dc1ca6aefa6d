import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  FastifyInstance,
  FastifyRequest,
  onRequestHookHandler,
  preParsingHookHandler,
  RouteOptions,
} from 'fastify'
import { cutOff, onceClosed } from '../closed.ts'
import { badRequest, serviceUnavailable } from '../errors.ts'
import { chunksOf } from './chunk-pace.ts'
import { addressGroup } from './network.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is read as a stream (`form`: unless it is JSON): it may take long, as long as it keeps coming. */
    upload?: 'bytes' | 'form'
  }
  interface FastifyInstance {
    bodyIntake: BodyIntake
  }
  interface FastifyRequest {
    arrivingBody: Body | undefined
  }
}

export interface BodyLimits {
  /** From the headers to the last byte of a buffered body. */
  bodyMs: number
  /** An upload must send `uploadBytes` in each of these intervals. */
  uploadMs: number
  uploadBytes: number
  /** Memory for the bodies of public routes: in total, and of one address. */
  publicBytes: number
  publicBytesPerAddress: number
  /** When the memory is used up, a body that has been arriving for longer than this is dropped in favour of others. */
  patienceMs: number
  /** How often the deadlines are checked. */
  checkMs: number
}

export const bodyLimits: BodyLimits = {
  bodyMs: 30_000,
  uploadMs: 60_000,
  uploadBytes: 16_384,
  publicBytes: 67_108_864,
  publicBytesPerAddress: 16_777_216,
  patienceMs: 1_000,
  checkMs: 1_000,
}

/** The default body limit of public routes. Sign-in requests are smaller. */
const publicBodyLimit = 16_384
/** Bodies up to this size are counted by their declared length; of longer bodies, every chunk is counted. */
const smallBytes = 16_384
/** The overhead of a chunk: chunked encoding can send a body in chunks of one byte. */
const pieceBytes = 256
const maxCost = 4_194_304

/** A body that is being received. */
interface Body {
  raw: IncomingMessage
  beganMs: number
  /** Its memory so far, and the part of it that is counted. */
  cost: number
  counted: number
  shares: Share[]
  /** The error of a body that was ended before it was read. */
  rejection: Error | undefined
}

interface Upload {
  raw: IncomingMessage
  sinceMs: number
  bytesRead: number
}

/** A limited amount of memory. */
interface Share {
  bytes: number
  max: number
  /** Incomplete bodies, the oldest first. */
  arriving: Set<Body>
  /** Called when no memory is in use. */
  onEmpty?: () => void
}

export interface BodyIntake {
  /** Memory in use by bodies of public routes, in bytes. */
  publicBytes(): number
}

const closing = { connection: 'close' }
const tooMuch = (): Error =>
  serviceUnavailable('The server is receiving too much from callers without a key. Try again shortly.', {
    headers: { 'retry-after': '5', ...closing },
  })
const tooSlow = (seconds: number): Error =>
  badRequest(`The body did not arrive within ${seconds} s.`, { headers: closing })
const tooManyPieces = (): Error => badRequest('The body arrives in too many small chunks.', { headers: closing })

/**
 * Ends the reading of a body with an error, which Fastify handles while it reads. Not before Fastify has seen the chunk
 * that has just arrived: when that one is beyond the limit as well, it would respond twice, which ends the process.
 */
const endBody = (body: Body, error: Error): void => {
  body.rejection = error
  process.nextTick(() => {
    if (body.raw.listenerCount('error') > 0) body.raw.emit('error', error)
  })
}

/**
 * The memory for bodies of unauthenticated callers. When it is used up, the body that has been arriving for the longest
 * time is dropped, so that slow senders cannot block others.
 */
const createBudget = (limits: BodyLimits) => {
  const all: Share = { bytes: 0, max: limits.publicBytes, arriving: new Set() }
  const byAddress = new Map<string, Share>()

  const shareOf = (address: string): Share => {
    const known = byAddress.get(address)
    if (known) return known
    const share: Share = {
      bytes: 0,
      max: limits.publicBytesPerAddress,
      arriving: new Set(),
      onEmpty: () => byAddress.delete(address),
    }
    byAddress.set(address, share)
    return share
  }
  const leave = (body: Body): void => {
    for (const share of body.shares) share.arriving.delete(body)
  }
  const release = (body: Body): void => {
    leave(body)
    for (const share of body.shares) {
      share.bytes -= body.counted
      if (share.bytes === 0) share.onEmpty?.()
    }
    body.shares = []
  }
  const makeRoom = (share: Share, more: number, nowMs: number): boolean => {
    while (share.bytes + more > share.max) {
      const [oldest] = share.arriving
      if (!oldest || nowMs - oldest.beganMs < limits.patienceMs) return false
      release(oldest)
      endBody(oldest, tooMuch())
    }
    return true
  }
  /** Counts further memory for a body. False when there is none, even after dropping a slow body. */
  const take = (body: Body, more: number): boolean => {
    const nowMs = performance.now()
    if (!body.shares.every((share) => makeRoom(share, more, nowMs))) return false
    for (const share of body.shares) share.bytes += more
    body.counted += more
    return true
  }
  const enter = (body: Body, address: string, bytes: number): boolean => {
    body.shares = [shareOf(address), all]
    if (!take(body, bytes)) {
      body.shares = []
      return false
    }
    for (const share of body.shares) share.arriving.add(body)
    return true
  }
  return { enter, take, leave, release, bytes: () => all.bytes }
}
type Budget = ReturnType<typeof createBudget>

/** Ends bodies that take too long. The sets are ordered by start, so that only late bodies are visited. */
const createDeadlines = (limits: BodyLimits) => {
  const bodies = new Set<Body>()
  const uploads = new Set<Upload>()
  let timer: NodeJS.Timeout | undefined

  const checkUpload = (upload: Upload, nowMs: number): void => {
    if (nowMs - upload.sinceMs < limits.uploadMs) return
    const { socket } = upload.raw
    const isComing = socket.bytesRead - upload.bytesRead >= limits.uploadBytes
    // Bytes that wait for a slow disk are not a delay of the client.
    if (isComing || upload.raw.readableLength > 0) {
      upload.sinceMs = nowMs
      upload.bytesRead = socket.bytesRead
      return
    }
    uploads.delete(upload)
    cutOff(upload.raw, 'the upload stood still')
  }
  const check = (): void => {
    const nowMs = performance.now()
    for (const body of bodies) {
      if (nowMs - body.beganMs < limits.bodyMs) break
      // A body that is not being read yet waits for the server, not for the client.
      if (body.raw.listenerCount('error') === 0) continue
      bodies.delete(body)
      endBody(body, tooSlow(limits.bodyMs / 1_000))
    }
    for (const upload of uploads) checkUpload(upload, nowMs)
    if (bodies.size > 0 || uploads.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const watch = (): void => {
    timer ??= setInterval(check, limits.checkMs).unref()
  }
  return {
    addBody: (body: Body): void => {
      bodies.add(body)
      onceClosed(body.raw, () => bodies.delete(body))
      watch()
    },
    addUpload: (raw: IncomingMessage): void => {
      const upload = { raw, sinceMs: performance.now(), bytesRead: raw.socket.bytesRead }
      uploads.add(upload)
      onceClosed(raw, () => uploads.delete(upload))
      watch()
    },
    close: () => clearInterval(timer),
  }
}

const isSmall = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= smallBytes

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const isUpload = ({ config }: RouteOptions, { headers }: FastifyRequest): boolean =>
  config?.upload === 'bytes' || (config?.upload === 'form' && !headers['content-type']?.startsWith('application/json'))

const enterBudget = (budget: Budget, body: Body, address: string, response: ServerResponse): boolean => {
  const { raw } = body
  const reserved = isSmall(raw) ? Number(raw.headers['content-length']) : smallBytes
  if (!budget.enter(body, address, reserved)) return false
  onceClosed(raw, () => budget.leave(body))
  // A body stays in memory until the response to its request is sent.
  onceClosed(response, () => budget.release(body))
  return true
}

const countPieces = (budget: Budget, body: Body): void => {
  let pieces = 0
  body.raw.on('data', (piece: Buffer) => {
    const arrived = Math.max(chunksOf(body.raw), pieces + 1)
    body.cost += piece.length + pieceBytes * (arrived - pieces)
    pieces = arrived
    if (body.rejection !== undefined) return
    const more = body.cost - body.counted
    if (body.cost > maxCost) endBody(body, tooManyPieces())
    else if (more > 0 && body.shares.length > 0 && !budget.take(body, more)) endBody(body, tooMuch())
  })
}

/**
 * Limits the cost of bodies before a request is authenticated: the time of each, and on public routes the memory of all.
 * Register it before authentication, whose hooks then run first.
 */
export const registerBodyIntake = (app: FastifyInstance, given: Partial<BodyLimits> = {}): void => {
  const limits = { ...bodyLimits, ...given }
  const budget = createBudget(limits)
  const deadlines = createDeadlines(limits)
  app.decorate('bodyIntake', { publicBytes: budget.bytes })
  app.decorateRequest('arrivingBody', undefined)
  app.addHook('onClose', async () => deadlines.close())

  const countAll: preParsingHookHandler = (request, _reply, _payload, done) => {
    const body = request.arrivingBody
    if (body?.rejection !== undefined) {
      done(body.rejection)
      return
    }
    // This starts the flow of data; the body is read in the same turn of the event loop.
    if (body !== undefined && !isSmall(body.raw)) countPieces(budget, body)
    done()
  }

  app.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => method === 'GET' || method === 'HEAD')) return
    const isPublic = (route.config as { access?: string } | undefined)?.access === 'public'
    if (isPublic) route.bodyLimit ??= publicBodyLimit
    const begin: onRequestHookHandler = (request, reply, done) => {
      const { raw } = request
      if (!hasBody(raw)) done()
      else if (isUpload(route, request)) {
        deadlines.addUpload(raw)
        done()
      } else {
        const body: Body = { raw, beganMs: performance.now(), cost: 0, counted: 0, shares: [], rejection: undefined }
        const fits = !isPublic || enterBudget(budget, body, addressGroup(request.ip), reply.raw)
        request.arrivingBody = body
        if (fits) deadlines.addBody(body)
        done(fits ? undefined : tooMuch())
      }
    }
    route.onRequest = [begin, ...[route.onRequest ?? []].flat()]
    route.preParsing = [...[route.preParsing ?? []].flat(), countAll]
  })
}
