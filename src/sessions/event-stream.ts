import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Reader, Tails, TurnKey } from './stream-tail.ts'

/** As the AI SDK's clients know its UI message stream; the last one keeps nginx from collecting frames. */
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
}

/** For the reference. */
export const streamsTo =
  'text/event-stream: the UI message stream of the AI SDK, version 1, with an `id:` on every frame.'

const pingMs = 15_000

/** Whether the caller asks for events. The AI SDK's own transport asks for anything, but sends its own kind of body. */
export const wantsStream = ({ headers }: FastifyRequest, isFromUseChat: boolean): boolean => {
  const accept = headers.accept ?? ''
  return accept.includes('text/event-stream') || (isFromUseChat && !accept.includes('application/json'))
}

/** The number of the last frame that a client has, by the query or as EventSource tells it. */
export const lastSeen = ({ headers }: FastifyRequest, after: number | undefined): number => {
  const header = headers['last-event-id']
  const told = typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : 0
  return after ?? told
}

/**
 * Answers with a turn's stream after a frame, until the turn rests. A client that reads slowly is written no more than
 * its socket takes; one that goes away is forgotten, and the turn goes on. When the server stops, the stream ends without
 * its last frame, so that the client asks again.
 */
export const sendStream = (
  request: FastifyRequest,
  reply: FastifyReply,
  tails: Tails,
  turn: TurnKey,
  after: number,
  isFresh = false,
): void => {
  const { stopping } = request.server
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...streamHeaders })
  raw.flushHeaders()
  const reader: Reader = {
    write: (firstSeq, lines) => {
      let text = ''
      for (const [i, line] of lines.entries()) text += `id: ${firstSeq + i}\ndata: ${line}\n\n`
      return raw.write(text)
    },
    end: () => {
      raw.end('data: [DONE]\n\n')
    },
  }
  const tail = tails.follow(turn, after, reader, isFresh)
  const ping = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': ping\n\n')
  }, pingMs)
  const stop = (): void => {
    raw.end()
  }
  stopping.addEventListener('abort', stop)
  raw.on('drain', () => tail.resume())
  raw.on('error', () => undefined)
  raw.once('close', () => {
    clearInterval(ping)
    stopping.removeEventListener('abort', stop)
    tail.close()
  })
}
