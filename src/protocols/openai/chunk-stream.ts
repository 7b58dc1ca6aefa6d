import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../platform/database/database.ts'
import { ApiError, serviceUnavailable } from '../../platform/http/errors.ts'
import type { Frame } from '../../sessions/streams/frames.ts'
import { cutOff, openEvents } from '../../sessions/streams/sse.ts'
import type { Reader, Tails } from '../../sessions/streams/tail.ts'
import { chatId, getCompletion } from './completions.ts'
import { chatFailure, notYet } from './failures.ts'
import { createSpoken } from './spoken.ts'
import type { Delta } from './spoken.ts'

/** How long a failure may still come as a status. After that proxies and people want to see that something is there. */
const openAfterMs = 5_000

export interface ChunkOptions {
  turnId: string
  model: string
  includeUsage: boolean
  isFresh: boolean
}

/** The chunks of one completion as they go over the wire. */
const createWriter = ({ turnId, model, includeUsage }: ChunkOptions) => {
  const created = Math.floor(Date.now() / 1_000)
  const chunk = (choices: object[], usage: object | null = null): string => {
    const head = { id: chatId(turnId), object: 'chat.completion.chunk', created, model, choices }
    return `data: ${JSON.stringify(includeUsage ? { ...head, usage } : head)}\n\n`
  }
  const choice = (delta: Delta, finishReason: string | null): object => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finishReason,
  })
  return {
    delta: (delta: Delta) => chunk([choice(delta, null)]),
    end: (finishReason: string, usage: object) =>
      `${chunk([choice({}, finishReason)])}${includeUsage ? chunk([], usage) : ''}data: [DONE]\n\n`,
    failure: (error: ApiError) => `data: ${JSON.stringify(chatFailure(error))}\n\n`,
  }
}

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : serviceUnavailable('The answer could not be read.', { cause: error })

/**
 * Answers with a turn as a stream of chunks. Resolves when the stream has begun and rejects when the turn fails before it
 * said anything, so that such a failure has a status of its own. A client that goes away does not stop the turn.
 */
export const sendChunks = (
  db: Db,
  request: FastifyRequest,
  reply: FastifyReply,
  tails: Tails,
  options: ChunkOptions,
): Promise<void> => {
  const { actor, server } = request
  const { raw } = reply
  const writer = createWriter(options)
  const spoken = createSpoken()
  const opened = Promise.withResolvers<void>()
  let isOpen = false

  const open = (): void => {
    if (isOpen) return
    isOpen = true
    clearTimeout(opening)
    openEvents(reply).write(writer.delta({ role: 'assistant', content: '' }))
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
      const completion = await getCompletion(db, actor, options.turnId)
      if (!completion) throw notYet('The turn does not rest yet.')
      open()
      raw.end(writer.end(completion.finishReason, completion.usage))
    } catch (error) {
      fail(asApiError(error))
    }
  }
  const reader: Reader = {
    write: (_firstSeq, lines) => {
      const deltas = lines.map((line) => spoken(JSON.parse(line) as Frame)).filter((delta) => delta !== undefined)
      if (deltas.length === 0) return true
      open()
      return raw.write(deltas.map(writer.delta).join(''))
    },
    end: () => void finish(),
  }
  const stop = (): void => fail(notYet('The server is stopping.'))
  const opening = setTimeout(open, openAfterMs)
  const tail = tails.follow({ orgId: actor.orgId, turnId: options.turnId }, 0, reader, options.isFresh)
  const unwatch = request.watchAuthority((reason) => {
    tail.close()
    if (isOpen) cutOff(raw, writer.failure(reason))
    else fail(reason)
  })
  const close = (): void => {
    clearTimeout(opening)
    unwatch()
    server.stopping.removeEventListener('abort', stop)
    tail.close()
  }
  server.stopping.addEventListener('abort', stop)
  if (server.stopping.aborted) stop()
  raw.on('drain', () => tail.resume())
  raw.once('close', () => {
    close()
    // Gone before it began: there is nobody left to answer.
    if (!isOpen) reply.hijack()
    isOpen = true
    opened.resolve()
  })
  return opened.promise
}
