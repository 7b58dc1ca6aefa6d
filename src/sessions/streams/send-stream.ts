import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from '../../platform/http/closed.ts'
import { endWithLastEvent, openEventStream } from '../../platform/http/server-sent-events.ts'
import { lineForVersion6 } from './stream-parts.ts'
import type { StreamPart } from './stream-parts.ts'
import type { StreamReader, TurnStreams } from './turn-streams.ts'

// The AI SDK's clients recognise the UI message stream by this header.
const streamHeaders = { 'x-vercel-ai-ui-message-stream': 'v1' }

/** Whether the caller wants events. The AI SDK's transport does not send an Accept header for them, so its body decides. */
export const wantsStream = ({ headers }: FastifyRequest, isFromUseChat: boolean): boolean => {
  const accept = headers.accept ?? ''
  return accept.includes('text/event-stream') || (isFromUseChat && !accept.includes('application/json'))
}

/**
 * The stream format for a request of `useChat`, whose transport sends no version. Both versions read that of version 6,
 * so a client of version 7 or later announces itself with `X-AI-SDK-Version`.
 */
export const formatForUseChat = ({ headers }: FastifyRequest): 'version 6' | 'complete' => {
  const version = headers['x-ai-sdk-version']
  return typeof version === 'string' && Number.parseInt(version, 10) >= 7 ? 'complete' : 'version 6'
}

const eventId = /^(?:([0-9a-f-]{36}):)?(\d{1,9})$/i

/**
 * The number of the last stream part that the client has, from `?after` or `Last-Event-ID`, whichever is larger: an
 * EventSource reconnects to its first URL and only updates the header. 0 when the header names another turn.
 */
export const lastSeenSeq = ({ headers }: FastifyRequest, turnId: string, after = 0): number => {
  const header = headers['last-event-id']
  const [, ofTurn = turnId, seq] = (typeof header === 'string' && eventId.exec(header)) || []
  return ofTurn.toLowerCase() === turnId ? Math.max(after, Number(seq ?? 0)) : 0
}

export interface StreamOptions {
  turnId: string
  /** The number of the last stream part that the client has. */
  after: number
  /** As in `TurnStreams.subscribe`. */
  isFresh?: boolean
  /** Adds the turn to the `id:` of every event, for a URL that serves one turn now and the next turn later. */
  includesTurnId?: boolean
  /** `version 6`: only parts that version 6 of the AI SDK knows. */
  format?: 'version 6' | 'complete'
}

/**
 * Sends a turn's stream until its end, or until the caller loses access. A slow client gets no more than its socket
 * accepts; when a client disconnects, the turn continues. When the server stops, the stream ends without `[DONE]`, so
 * that the client reconnects.
 */
export const sendStream = (
  request: FastifyRequest,
  reply: FastifyReply,
  streams: TurnStreams,
  { turnId, after, isFresh = false, includesTurnId = false, format = 'complete' }: StreamOptions,
): void => {
  const { stopping } = request.server
  const raw = openEventStream(reply, streamHeaders)
  const prefix = includesTurnId ? `${turnId}:` : ''
  const reader: StreamReader = {
    write: (firstSeq, lines) => {
      let text = ''
      for (const [i, line] of lines.entries()) {
        const sent = format === 'complete' ? line : lineForVersion6(line)
        if (sent !== undefined) text += `id: ${prefix}${firstSeq + i}\ndata: ${sent}\n\n`
      }
      return text === '' || raw.write(text)
    },
    end: () => {
      raw.end('data: [DONE]\n\n')
    },
  }
  const subscription = streams.subscribe({ orgId: request.actor.orgId, turnId }, reader, { after, isFresh })
  const stop = (): void => {
    raw.end()
  }
  const unwatch = request.watchAuthority(({ message }) => {
    subscription.close()
    const part: StreamPart = { type: 'error', errorText: message }
    // Without an id: a client that regains access continues after the last part of the turn.
    endWithLastEvent(raw, `data: ${JSON.stringify(part)}\n\n`)
  })
  stopping.addEventListener('abort', stop)
  // The server can stop while the turn is created or read: the stream would delay the stop until its deadline.
  if (stopping.aborted) stop()
  raw.on('drain', () => subscription.resume())
  onceClosed(raw, () => {
    stopping.removeEventListener('abort', stop)
    unwatch()
    subscription.close()
  })
}
