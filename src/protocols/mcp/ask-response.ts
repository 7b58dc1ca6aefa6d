import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from '../../platform/http/closed.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import type { StreamPart } from '../../sessions/streams/stream-parts.ts'
import { openEventStream } from '../../platform/http/server-sent-events.ts'
import type { TurnKey, TurnStreams } from '../../sessions/streams/turn-streams.ts'

/** The response to one JSON-RPC request: a JSON object, or events of which the last one is that object. */
export interface RpcResponse {
  notify(method: string, params: object): void
  end(response: object): void
}

export const jsonResponse = (reply: FastifyReply): RpcResponse => ({
  notify: () => undefined,
  end: (response) => void reply.type('application/json; charset=utf-8').send(JSON.stringify(response)),
})

export const eventResponse = (reply: FastifyReply): RpcResponse => {
  const raw = openEventStream(reply)
  const write = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`
  return {
    notify: (method, params) => void raw.write(write({ jsonrpc: '2.0', method, params })),
    end: (response) => void raw.end(write(response)),
  }
}

export const acceptsEvents = ({ headers }: FastifyRequest): boolean =>
  (headers.accept ?? '').includes('text/event-stream')

const reportMs = 5_000

/** Sends a progress notification when the activity of a turn changes, and every 5 s. */
export const createProgress = (token: unknown, notify: RpcResponse['notify']) => {
  let activity = 'The agent is thinking'
  let progress = 0
  const report = (): void => {
    progress += 1
    notify('notifications/progress', { progressToken: token, progress, message: activity })
  }
  const isWanted = typeof token === 'string' || typeof token === 'number'
  const timer = isWanted ? setInterval(report, reportMs) : undefined
  const change = (next: string): void => {
    if (!isWanted || next === activity) return
    activity = next
    report()
  }
  return {
    onPart: (part: StreamPart): void => {
      if (part.type === 'start-step') change('The agent is thinking')
      else if (part.type === 'text-start') change('The agent is writing')
      else if (part.type === 'tool-input-available') change(`The agent is using ${part.toolName}`)
    },
    stop: (): void => clearInterval(timer),
  }
}

/** `end`: the turn has ended or waits for a person. */
export type WaitOutcome = 'end' | 'disconnected' | 'timeout'

interface WaitOptions {
  request: FastifyRequest
  reply: FastifyReply
  timeoutMs: number
  onPart: (part: StreamPart) => void
}

/** Waits for a turn. Rejects when the server stops, and when the caller loses the permission to ask agents. */
export const waitForTurnEnd = async (
  streams: TurnStreams,
  turn: TurnKey,
  { request, reply, timeoutMs, onPart }: WaitOptions,
): Promise<WaitOutcome> => {
  const { stopping } = request.server
  const { promise, resolve, reject } = Promise.withResolvers<WaitOutcome>()
  const onStop = (): void => reject(serviceUnavailable('The server is stopping. The turn continues in its session.'))
  const timeout = setTimeout(() => resolve('timeout'), timeoutMs)
  const unwatch = request.watchAuthority(reject, 'sessions:write')
  const unwatchClient = onceClosed(reply.raw, () => resolve('disconnected'))
  stopping.addEventListener('abort', onStop)
  if (stopping.aborted) onStop()
  const write = (_firstSeq: number, lines: string[]): boolean => {
    for (const line of lines) onPart(JSON.parse(line) as StreamPart)
    return true
  }
  const subscription = streams.subscribe(turn, { write, end: () => resolve('end') }, { after: 0, isFresh: true })
  try {
    return await promise
  } finally {
    clearTimeout(timeout)
    unwatch()
    unwatchClient()
    stopping.removeEventListener('abort', onStop)
    subscription.close()
  }
}
