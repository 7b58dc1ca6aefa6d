import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  FastifyInstance,
  FastifyRequest,
  onRequestHookHandler,
  preParsingHookHandler,
  RouteOptions,
} from 'fastify'
import { badRequest, serviceUnavailable } from '../errors.ts'
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
  /** From the headers to the last byte of a body that is buffered. */
  bodyMs: number
  /** An upload has to bring `uploadBytes` in each of these. */
  uploadMs: number
  uploadBytes: number
  /** Memory for the bodies of public routes, in all and of one address. */
  publicBytes: number
  publicBytesPerAddress: number
  /** A body that has been arriving for this long gives way to others when that memory is used up. */
  patienceMs: number
  /** How often the deadlines are looked at. */
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

/** The body limit of public routes that declare none: nothing that a person types to sign in is longer. */
const publicBodyLimit = 16_384
/** Bodies up to here are counted by their declared length; of longer ones every piece is counted. */
const smallBytes = 16_384
/** What a piece takes beside its bytes: chunked encoding can send a body in pieces of one byte. */
const pieceBytes = 256
const maxCost = 4_194_304

/** A body on its way in. */
interface Body {
  raw: IncomingMessage
  beganMs: number
  /** What it has cost so far, and what of that is counted in the shares. */
  cost: number
  counted: number
  shares: Share[]
  /** Why it was ended before anybody read it. */
  refused: Error | undefined
}

interface Upload {
  raw: IncomingMessage
  sinceMs: number
  bytesRead: number
}

/** Memory of which so much may be in use. */
interface Share {
  bytes: number
  max: number
  /** Bodies that are not complete, the oldest first. */
  arriving: Set<Body>
  /** Called when nothing is in use any more. */
  onEmpty?: () => void
}

export interface BodyIntake {
  /** Memory that bodies of public routes take right now, in bytes. */
  publicBytes(): number
}

const closing = { connection: 'close' }
const tooMuch = (): Error =>
  serviceUnavailable('The server is receiving too much from callers without a key. Try again shortly.', {
    headers: { 'retry-after': '5', ...closing },
  })
const tooSlow = (seconds: number): Error =>
  badRequest(`The body did not arrive within ${seconds} s.`, { headers: closing })
const tooManyPieces = (): Error => badRequest('The body arrives in too many small pieces.', { headers: closing })

/** Ends the reading of a body. The framework listens for errors while it reads, and answers them. */
const endBody = (body: Body, error: Error): void => {
  body.refused = error
  if (body.raw.listenerCount('error') > 0) body.raw.emit('error', error)
}

/**
 * The memory of bodies that strangers send. When it is used up, the body that has been arriving for longest gives way:
 * who holds a body back loses it, and who sends one is served.
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
  /** Counts more for a body. False when there is no room, not even at the cost of one that is held back. */
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

/** Ends bodies that take too long. The sets are in the order in which bodies began, so a look is at the late ones only. */
const createDeadlines = (limits: BodyLimits) => {
  const bodies = new Set<Body>()
  const uploads = new Set<Upload>()
  let timer: NodeJS.Timeout | undefined

  const checkUpload = (upload: Upload, nowMs: number): void => {
    if (nowMs - upload.sinceMs < limits.uploadMs) return
    const { socket } = upload.raw
    const isComing = socket.bytesRead - upload.bytesRead >= limits.uploadBytes
    // What has arrived and waits for a slow disk is not the client's delay.
    if (isComing || upload.raw.readableLength > 0) {
      upload.sinceMs = nowMs
      upload.bytesRead = socket.bytesRead
      return
    }
    uploads.delete(upload)
    // As if the client had gone, which it probably has: what was stored of it is removed.
    upload.raw.destroy(Object.assign(new Error('the upload stood still'), { code: 'ECONNRESET' }))
  }
  const check = (): void => {
    const nowMs = performance.now()
    for (const body of bodies) {
      if (nowMs - body.beganMs < limits.bodyMs) break
      // One that nobody reads yet waits for us.
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
      body.raw.once('close', () => bodies.delete(body))
      watch()
    },
    addUpload: (raw: IncomingMessage): void => {
      const upload = { raw, sinceMs: performance.now(), bytesRead: raw.socket.bytesRead }
      uploads.add(upload)
      raw.once('close', () => uploads.delete(upload))
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
  raw.once('close', () => budget.leave(body))
  // A body is in memory until its request has been answered.
  response.once('close', () => budget.release(body))
  return true
}

const countPieces = (budget: Budget, body: Body): void => {
  body.raw.on('data', (piece: Buffer) => {
    body.cost += piece.length + pieceBytes
    if (body.refused !== undefined) return
    const more = body.cost - body.counted
    if (body.cost > maxCost) endBody(body, tooManyPieces())
    else if (more > 0 && body.shares.length > 0 && !budget.take(body, more)) endBody(body, tooMuch())
  })
}

/**
 * Limits what bodies cost before anybody has verified them: their time, and on public routes the memory that all of them
 * take together. Register it before the hooks that let requests in, which then come first.
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
    if (body?.refused !== undefined) {
      done(body.refused)
      return
    }
    // It begins to flow with this, and is read in the same turn of the event loop.
    if (body !== undefined && !isSmall(body.raw)) countPieces(budget, body)
    done()
  }

  app.addHook('onRoute', (route) => {
    if (![route.method].flat().some((method) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))) return
    const isPublic = (route.config as { access?: string } | undefined)?.access === 'public'
    if (isPublic) route.bodyLimit ??= publicBodyLimit
    const begin: onRequestHookHandler = (request, reply, done) => {
      const { raw } = request
      if (!hasBody(raw)) done()
      else if (isUpload(route, request)) {
        deadlines.addUpload(raw)
        done()
      } else {
        const body: Body = { raw, beganMs: performance.now(), cost: 0, counted: 0, shares: [], refused: undefined }
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
