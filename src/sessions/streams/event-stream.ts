import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Frame } from './frames.ts'
import { cutOff, openEvents } from './sse.ts'
import type { Reader, Tails, TurnKey } from './tail.ts'

/** As the AI SDK's clients know its UI message stream. */
const streamHeaders = { 'x-vercel-ai-ui-message-stream': 'v1' }

/** For the reference. */
export const streamsTo =
  'text/event-stream: the UI message stream of the AI SDK, version 1, with an `id:` on every frame.'

/** Whether the caller asks for events. The AI SDK's own transport asks for anything, but sends its own kind of body. */
export const wantsStream = ({ headers }: FastifyRequest, isFromUseChat: boolean): boolean => {
  const accept = headers.accept ?? ''
  return accept.includes('text/event-stream') || (isFromUseChat && !accept.includes('application/json'))
}

const eventId = /^(?:([0-9a-f-]{36}):)?(\d{1,9})$/i

/**
 * The number of the last frame of a turn that a client has, by the query or as EventSource tells it: that one asks for
 * the same URL for ever, so its header is the newer of the two. Of another turn it has none of this one's frames.
 */
export const lastSeen = ({ headers }: FastifyRequest, turnId: string, after = 0): number => {
  const header = headers['last-event-id']
  const [, ofTurn = turnId, told] = (typeof header === 'string' && eventId.exec(header)) || []
  return ofTurn.toLowerCase() === turnId ? Math.max(after, Number(told ?? 0)) : 0
}

export interface StreamOptions {
  /** The number of the last frame that the client has. */
  after: number
  /** As in `tails.follow`. */
  isFresh?: boolean
  /** Names the turn in the `id:` of every frame: for a URL that is that of one turn now, and of the next one later. */
  namesTurn?: boolean
}

/**
 * Answers with a turn's stream after a frame, until the turn rests or the caller may not read it any more. A client that reads slowly is written no more than
 * its socket takes; one that goes away is forgotten, and the turn goes on. When the server stops, the stream ends without
 * its last frame, so that the client asks again.
 */
export const sendStream = (
  request: FastifyRequest,
  reply: FastifyReply,
  tails: Tails,
  turn: TurnKey,
  { after, isFresh = false, namesTurn = false }: StreamOptions,
): void => {
  const { stopping } = request.server
  const raw = openEvents(reply, streamHeaders)
  const prefix = namesTurn ? `${turn.turnId}:` : ''
  const reader: Reader = {
    write: (firstSeq, lines) => {
      let text = ''
      for (const [i, line] of lines.entries()) text += `id: ${prefix}${firstSeq + i}\ndata: ${line}\n\n`
      return raw.write(text)
    },
    end: () => {
      raw.end('data: [DONE]\n\n')
    },
  }
  const tail = tails.follow(turn, after, reader, isFresh)
  const stop = (): void => {
    raw.end()
  }
  const unwatch = request.watchAuthority(({ message }) => {
    tail.close()
    const frame: Frame = { type: 'error', errorText: message }
    // Without a number: it is no frame of the turn, and who may read the stream again goes on after the last of those.
    cutOff(raw, `data: ${JSON.stringify(frame)}\n\n`)
  })
  stopping.addEventListener('abort', stop)
  raw.on('drain', () => tail.resume())
  raw.once('close', () => {
    stopping.removeEventListener('abort', stop)
    unwatch()
    tail.close()
  })
}
