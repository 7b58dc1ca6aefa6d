import type { Client } from './client.ts'
import { timedOut } from './errors.ts'
import { reconnecting } from './reconnect.ts'
import type { StreamOptions } from './reconnect.ts'
import { pause } from './retry.ts'
import type { TurnPart } from './turn-parts.ts'
import type { Message, Turn, TurnAnswer, TurnCreate } from './types.ts'
import { uniqueKey } from './unique.ts'

/** A part of a turn's stream. */
export interface TurnEvent {
  turnId: string
  /** Number of the part in the turn, from 1. `streamTurn` with `after` continues behind it. */
  number: number
  part: TurnPart
}

type Connect = (after: number, signal: AbortSignal) => Promise<Response>

async function* readTurn(connect: Connect, after: number, options: StreamOptions) {
  let number = after
  const open = async (signal: AbortSignal) => {
    const response = await connect(number, signal)
    return response.status === 204 ? undefined : (response.body ?? undefined)
  }
  for await (const { id, data } of reconnecting(open, options)) {
    if (data === '[DONE]') return
    // Without an ID: the caller lost access, and the next connection fails with the reason.
    if (id === undefined) continue
    number = Number(id)
    yield { number, part: JSON.parse(data) as TurnPart }
  }
}

const connectTo = (client: Client, turnId: string, after: number, signal: AbortSignal): Promise<Response> =>
  client.send('GET /turns/:id/stream', { params: { id: turnId }, query: { after }, signal })

/**
 * The stream of a turn, for `for await`. Reconnects without a gap and without a repetition. Ends when the turn ends or
 * waits for an action: `finish` has the status. Parts are kept for 24 hours.
 */
export async function* streamTurn(
  client: Client,
  turnId: string,
  { after = 0, ...options }: StreamOptions & { after?: number | undefined } = {},
): AsyncGenerator<TurnEvent, void, undefined> {
  const connect: Connect = (number, signal) => connectTo(client, turnId, number, signal)
  for await (const event of readTurn(connect, after, options)) yield { turnId, ...event }
}

export interface ReplyOptions extends StreamOptions {
  /** Sends the message once in 24 hours, also when your program repeats the call after a restart. Default: a new key. */
  idempotencyKey?: string | undefined
}

/**
 * Sends a message to a session and returns the stream of its turn, for `for await`. The message is sent once, although a
 * lost request is repeated; a lost connection continues after the last part. The turn goes on when the iteration stops.
 */
export async function* streamReply(
  client: Client,
  sessionId: string,
  message: TurnCreate,
  { idempotencyKey = uniqueKey(), ...options }: ReplyOptions = {},
): AsyncGenerator<TurnEvent, void, undefined> {
  let turnId: string | undefined
  const connect: Connect = async (number, signal) => {
    if (turnId === undefined) {
      const headers = { accept: 'text/event-stream' }
      const sent = { params: { id: sessionId }, body: message, idempotencyKey, headers, signal }
      const response = await client.send('POST /sessions/:id/messages', sent)
      if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return response
      // The message was sent before, and the connection was lost: the response to a repeated request is the turn.
      const { data } = (await response.json()) as { data: TurnAnswer }
      turnId = data.turn.id
    }
    return connectTo(client, turnId, number, signal)
  }
  for await (const { number, part } of readTurn(connect, 0, options)) {
    if (part.type === 'start') turnId = part.messageMetadata.turnId
    if (turnId !== undefined) yield { turnId, number, part }
  }
}

const firstPollMs = 250
const longestPollMs = 3_000

export interface WaitOptions {
  signal?: AbortSignal | undefined
  /** Fails with TIMEOUT after this time, in milliseconds. The turn continues. Default: no limit. */
  timeoutMs?: number | undefined
}

/**
 * Waits until a turn has ended (`completed`, `incomplete`, `failed` or `cancelled`) or waits for an action of a person or
 * of your program (`requires_action`), and resolves with it. A failed turn does not reject: see `status` and `error`.
 */
export const waitForTurn = async (
  client: Client,
  turnId: string,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions = {},
): Promise<Turn> => {
  const endsAt = performance.now() + timeoutMs
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, longestPollMs)) {
    const turn = await client.call('GET /turns/:id', { params: { id: turnId }, signal })
    if (turn.status !== 'queued' && turn.status !== 'running') return turn
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) throw timedOut(timeoutMs)
    await pause(Math.min(pollMs, leftMs), signal)
  }
}

/** The text of a message, without reasoning, tool calls and files. */
export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
