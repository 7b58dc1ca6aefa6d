import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from '../../platform/http/closed.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { TurnStreams } from './turn-streams.ts'

interface WaitOptions {
  turnId: string
  timeoutMs: number
  /** As in `TurnStreams.subscribe`. */
  isFresh: boolean
}

/** Added to the time limit of a turn: the time before its first step and after its last one. */
const graceMs = 60_000

/** The longest time that a running turn can take to end. */
export const longestTurnMs = (turnLimitMs: number): number => turnLimitMs + graceMs

const clientDisconnected = new Error('the client closed the connection')

/**
 * Waits until a turn has ended or waits for a person. Returns false when the timeout passes, the client disconnects or
 * the server stops first. Rejects when the caller loses its authority.
 */
export const waitForTurn = async (
  request: FastifyRequest,
  reply: FastifyReply,
  streams: TurnStreams,
  { turnId, timeoutMs, isFresh }: WaitOptions,
): Promise<boolean> => {
  const disconnected = new AbortController()
  const unwatchClient = onceClosed(reply.raw, () => disconnected.abort(clientDisconnected))
  let lost: ApiError | undefined
  const unwatch = request.watchAuthority((reason) => {
    lost = reason
    disconnected.abort(reason)
  })
  const signal = AbortSignal.any([disconnected.signal, request.server.stopping])
  const isEnd = await streams.waitForEnd({ orgId: request.actor.orgId, turnId }, { timeoutMs, signal, isFresh })
  unwatch()
  unwatchClient()
  if (lost) throw lost
  return isEnd
}
