import type { StreamResponse } from '@a2a-js/sdk'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../platform/database/database.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import type { StreamPart } from '../../sessions/streams/stream-parts.ts'
import type { TurnStreams } from '../../sessions/streams/turn-streams.ts'
import { createReplyDeltas } from '../openai/reply-deltas.ts'
import { replyArtifact, taskTurnOf, textPart, toStatus, toTask } from './tasks.ts'
import type { Details } from './tasks.ts'

interface UpdateDeps {
  db: { hot: Db }
  streams: TurnStreams
}

interface UpdateOptions {
  turnId: string
  historyLength: number | undefined
  /** Reads the turn. Throws when it does not exist any more. */
  read: () => Promise<Details>
}

/** After so many lines the stream waits until the client has read them. */
const maxWaiting = 200

/** The lines of a turn as they come. Throws when the server stops or the caller loses access. */
async function* partsOf(
  { streams }: UpdateDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { turnId }: UpdateOptions,
): AsyncGenerator<StreamPart[], 'ended' | 'disconnected'> {
  const { actor, server } = request
  let lines: string[] = []
  let end: { as: 'ended' | 'disconnected' } | { error: Error } | undefined
  let wake = Promise.withResolvers<void>()
  const finish = (how: typeof end): void => {
    end ??= how
    wake.resolve()
  }
  const onStop = (): void =>
    finish({ error: serviceUnavailable('The server is stopping. The task continues: subscribe to it again.') })
  const subscription = streams.subscribe(
    { orgId: actor.orgId, turnId },
    {
      write: (_firstSeq, more) => {
        lines.push(...more)
        wake.resolve()
        return lines.length < maxWaiting
      },
      end: () => finish({ as: 'ended' }),
    },
    // The turn was read since it was created, and may have ended.
    { after: 0 },
  )
  const unwatch = request.watchAuthority((error) => finish({ error }))
  const unwatchClient = onceClosed(reply.raw, () => finish({ as: 'disconnected' }))
  server.stopping.addEventListener('abort', onStop)
  if (server.stopping.aborted) onStop()
  try {
    for (;;) {
      await wake.promise
      wake = Promise.withResolvers<void>()
      const read = lines
      lines = []
      if (read.length > 0) yield read.map((line) => JSON.parse(line) as StreamPart)
      if (end && 'error' in end) throw end.error
      if (end && lines.length === 0) return end.as
      if (end) wake.resolve()
      subscription.resume()
    }
  } finally {
    unwatch()
    unwatchClient()
    server.stopping.removeEventListener('abort', onStop)
    subscription.close()
  }
}

/** A task and what happens to it, until it ends or waits for a person: the reply in pieces, then the last status. */
export async function* taskUpdates(
  deps: UpdateDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  options: UpdateOptions,
): AsyncGenerator<StreamResponse> {
  const { actor } = request
  const { historyLength, read } = options
  const first = await toTask(deps.db.hot, actor, await read(), historyLength)
  const { contextId } = first
  const taskId = first.id
  // The whole reply follows in pieces.
  yield { payload: { $case: 'task', value: { ...first, artifacts: [] } } }
  const toDelta = createReplyDeltas()
  let hasText = false
  const piece = (text: string, lastChunk: boolean): StreamResponse => {
    const append = hasText
    hasText = true
    const artifact = replyArtifact([textPart(text)])
    const value = { taskId, contextId, artifact, append, lastChunk, metadata: undefined }
    return { payload: { $case: 'artifactUpdate', value } }
  }
  const parts = partsOf(deps, request, reply, options)
  try {
    for (;;) {
      const { done, value } = await parts.next()
      if (done) {
        if (value === 'disconnected') return
        break
      }
      const text = value.map((part) => toDelta(part)?.content ?? '').join('')
      if (text !== '') yield piece(text, false)
    }
  } finally {
    await parts.return('disconnected')
  }
  const details = await read()
  if (hasText) yield piece('', true)
  const status = toStatus(taskTurnOf(details))
  yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } }
}
