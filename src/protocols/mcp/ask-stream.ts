import type { FastifyReply, FastifyRequest } from 'fastify'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import type { Frame } from '../../sessions/streams/frames.ts'
import { openEvents } from '../../sessions/streams/sse.ts'
import type { TurnKey, Tails } from '../../sessions/streams/tail.ts'

/** The answer to one request: one JSON object, or events that end with it. */
export interface Answering {
  notify(method: string, params: object): void
  end(response: object): void
}

export const answerAsJson = (reply: FastifyReply): Answering => ({
  notify: () => undefined,
  end: (response) => void reply.type('application/json; charset=utf-8').send(JSON.stringify(response)),
})

export const answerAsEvents = (reply: FastifyReply): Answering => {
  const raw = openEvents(reply)
  const write = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`
  return {
    notify: (method, params) => void raw.write(write({ jsonrpc: '2.0', method, params })),
    end: (response) => void raw.end(write(response)),
  }
}

export const takesEvents = ({ headers }: FastifyRequest): boolean =>
  (headers.accept ?? '').includes('text/event-stream')

const reportMs = 5_000

/** Tells how a turn comes along: whenever it does something else, and every 5 s that it is still at it. */
export const createProgress = (token: unknown, notify: Answering['notify']) => {
  let doing = 'The agent thinks'
  let progress = 0
  const report = (): void => {
    progress += 1
    notify('notifications/progress', { progressToken: token, progress, message: doing })
  }
  const isWanted = typeof token === 'string' || typeof token === 'number'
  const timer = isWanted ? setInterval(report, reportMs) : undefined
  const change = (now: string): void => {
    if (!isWanted || now === doing) return
    doing = now
    report()
  }
  return {
    hear: (frame: Frame): void => {
      if (frame.type === 'start-step') change('The agent thinks')
      else if (frame.type === 'text-start') change('The agent writes')
      else if (frame.type === 'tool-input-available') change(`The agent uses ${frame.toolName}`)
    },
    stop: (): void => clearInterval(timer),
  }
}

export type Outcome = 'rests' | 'gone' | 'late'

export interface WatchOptions {
  request: FastifyRequest
  reply: FastifyReply
  limitMs: number
  hear: (frame: Frame) => void
}

/**
 * Waits until the turn rests, the client is gone, or it takes too long. Rejects when the server stops, and when the caller
 * may not ask agents any more.
 */
export const watchTurn = async (
  tails: Tails,
  turn: TurnKey,
  { request, reply, limitMs, hear }: WatchOptions,
): Promise<Outcome> => {
  const { stopping } = request.server
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const onClose = (): void => resolve('gone')
  const onStop = (): void => reject(serviceUnavailable('The server is stopping. The turn goes on in its session.'))
  const limit = setTimeout(() => resolve('late'), limitMs)
  const unwatch = request.watchAuthority(reject, 'sessions:write')
  reply.raw.once('close', onClose)
  stopping.addEventListener('abort', onStop)
  if (stopping.aborted) onStop()
  const write = (_firstSeq: number, lines: string[]): boolean => {
    for (const line of lines) hear(JSON.parse(line) as Frame)
    return true
  }
  const tail = tails.follow(turn, 0, { write, end: () => resolve('rests') }, true)
  try {
    return await promise
  } finally {
    clearTimeout(limit)
    unwatch()
    reply.raw.off('close', onClose)
    stopping.removeEventListener('abort', onStop)
    tail.close()
  }
}
