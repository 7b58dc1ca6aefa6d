import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../platform/database/database.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import { ApiError, serviceUnavailable } from '../../platform/http/errors.ts'
import type { StreamPart } from '../../sessions/streams/stream-parts.ts'
import { endWithLastEvent, openEventStream } from '../../platform/http/server-sent-events.ts'
import type { StreamReader, TurnStreams } from '../../sessions/streams/turn-streams.ts'
import { chatId, getCompletion } from './completions.ts'
import type { Completion } from './completions.ts'
import type { BegunChat } from './continuation.ts'
import { chatFailure, turnInProgress } from './errors.ts'
import { createReplyDeltas } from './reply-deltas.ts'
import type { Delta } from './reply-deltas.ts'

/** The delay until the stream opens. A failure before it has its own HTTP status; proxies time out with a longer one. */
const openAfterMs = 5_000

/** Formats the events of one completion. */
export interface ReplyWriter {
  open(): string
  delta(delta: Delta): string
  end(completion: Completion): string
  failure(error: ApiError): string
}

export interface ChunkOptions extends BegunChat {
  /** The text is sent when it was validated: it could still be replaced before. */
  isValidated: boolean
  isFresh: boolean
  writer: ReplyWriter
}

interface ChatWriterOptions extends BegunChat {
  model: string
  includeUsage: boolean
}

/** Formats chunks of a chat completion. */
export const createChatWriter = ({ turnId, afterStep, model, includeUsage }: ChatWriterOptions): ReplyWriter => {
  const created = Math.floor(Date.now() / 1_000)
  let hasText = false
  const chunk = (choices: object[], usage: object | null = null): string => {
    const head = { id: chatId({ turnId, afterStep }), object: 'chat.completion.chunk', created, model, choices }
    return `data: ${JSON.stringify(includeUsage ? { ...head, usage } : head)}\n\n`
  }
  const choice = (delta: Delta, finishReason: string | null): object => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finishReason,
  })
  return {
    open: () => chunk([choice({ role: 'assistant', content: '' }, null)]),
    delta: (delta: Delta) => {
      hasText ||= delta.content !== undefined
      return chunk([choice(delta, null)])
    },
    end: ({ text, toolCalls, finishReason, usage }: Completion) => {
      // A validated text is sent at the end, and that of a turn whose stream has expired.
      const missing = hasText || text === '' ? [] : [{ content: text }]
      const calls = toolCalls.map((call, index) => ({ tool_calls: [{ index, ...call }] }))
      const deltas = [...missing, ...calls].map((delta) => chunk([choice(delta, null)]))
      const last = chunk([choice({}, finishReason)]) + (includeUsage ? chunk([], usage) : '')
      return `${deltas.join('')}${last}data: [DONE]\n\n`
    },
    failure: (error: ApiError) => `data: ${JSON.stringify(chatFailure(error))}\n\n`,
  }
}

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : serviceUnavailable('The reply could not be read.', { cause: error })

/** Whether a part belongs to the completion: after its first step, and before the turn hands calls to the caller. */
const createRoundFilter = ({ afterStep = 0, after = 0 }: BegunChat): ((part: StreamPart) => boolean) => {
  let step = after === 0 ? 0 : afterStep
  let isOver = false
  return ({ type }) => {
    if (type === 'start-step') step += 1
    isOver ||= type === 'data-tool-outputs-required' && step > afterStep
    return step > afterStep && !isOver
  }
}

/**
 * Sends a turn as a stream of events of the writer. Resolves when the stream has started; rejects when the turn fails
 * before its first text, so that the failure can be sent with its own HTTP status. A client that disconnects does not stop
 * the turn.
 */
export const sendChunks = (
  { db, streams }: { db: Db; streams: TurnStreams },
  request: FastifyRequest,
  reply: FastifyReply,
  options: ChunkOptions,
): Promise<void> => {
  const { actor, server } = request
  const { raw } = reply
  const { writer } = options
  const toDelta = createReplyDeltas()
  const isIncluded = createRoundFilter(options)
  const opened = Promise.withResolvers<void>()
  let isOpen = false

  const open = (): void => {
    if (isOpen) return
    isOpen = true
    clearTimeout(opening)
    openEventStream(reply).write(writer.open())
    opened.resolve()
  }
  const fail = (error: ApiError): void => {
    if (isOpen) raw.end(writer.failure(error))
    else {
      isOpen = true
      close()
      opened.reject(error)
    }
  }
  const finish = async (): Promise<void> => {
    try {
      const completion = await getCompletion(db, actor, options)
      if (!completion) throw turnInProgress('The turn has not ended yet.')
      open()
      raw.end(writer.end(completion))
    } catch (error) {
      fail(asApiError(error))
    }
  }
  const reader: StreamReader = {
    write: (_firstSeq, lines) => {
      const parts = lines.map((line) => JSON.parse(line) as StreamPart).filter(isIncluded)
      const deltas = parts
        .map(toDelta)
        .filter((delta) => delta !== undefined)
        .filter(({ content }) => !options.isValidated || content === undefined)
      if (deltas.length === 0) return true
      open()
      return raw.write(deltas.map(writer.delta).join(''))
    },
    end: () => void finish(),
  }
  const stop = (): void => fail(turnInProgress('The server is stopping.'))
  const opening = setTimeout(open, openAfterMs)
  const key = { orgId: actor.orgId, turnId: options.turnId }
  const subscription = streams.subscribe(key, reader, { after: options.after ?? 0, isFresh: options.isFresh })
  const unwatch = request.watchAuthority((reason) => {
    subscription.close()
    if (isOpen) endWithLastEvent(raw, writer.failure(reason))
    else fail(reason)
  })
  const close = (): void => {
    clearTimeout(opening)
    unwatch()
    server.stopping.removeEventListener('abort', stop)
    subscription.close()
  }
  server.stopping.addEventListener('abort', stop)
  if (server.stopping.aborted) stop()
  raw.on('drain', () => subscription.resume())
  onceClosed(raw, () => {
    close()
    // The client disconnected before the stream started: Fastify must not send a response.
    if (!isOpen) reply.hijack()
    isOpen = true
    opened.resolve()
  })
  return opened.promise
}
