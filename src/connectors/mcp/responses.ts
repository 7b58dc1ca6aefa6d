import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { createEventParser, EventStreamError } from '../../platform/http/event-stream.ts'
import { JsonTooDeep, maxJsonDepth, parseForeignJson } from '../../platform/http/json-depth.ts'
import { ProviderError } from '../connections/provider-error.ts'

const maxResponseBytes = 1_048_576
/** 1 MB in chunks of 64 bytes. Each chunk takes some microseconds, regardless of its size. */
const maxChunks = 16_384
const chunksPerLoopTurn = 64
const maxEvents = 1_000
/** Requests of the server that are answered during one request of ours. */
const maxForeignRequests = 16
/** How often the stream of one response is resumed. */
const maxResumptions = 10
const usualRetryMs = 1_000
const longestRetryMs = 10_000

export interface Message {
  id?: unknown
  method?: unknown
  result?: unknown
  error?: { code?: unknown; message?: unknown; data?: unknown }
}

export const name = 'The MCP server'
export const unavailable = (what: string, cause?: unknown): ProviderError =>
  new ProviderError('unavailable', `${name} ${what}.`, { cause })

/**
 * The chunks of a response within the limits. Buffered chunks arrive without a turn of the event loop, so the loop yields
 * every 64 chunks: a stream of one-byte chunks must not block other requests.
 */
const chunksOf = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  let chunks = 0
  for await (const chunk of body) {
    size += chunk.length
    chunks += 1
    if (size > maxResponseBytes) throw unavailable('sent a response of more than 1 MB')
    if (chunks > maxChunks) throw unavailable(`sent a response of more than ${maxChunks} chunks`)
    if (chunks % chunksPerLoopTurn === 0) await nextTurn()
    yield chunk
  }
}

/** Where a stream ended: how to resume it, if the server gives its events IDs. */
interface StreamEnd {
  lastEventId: string
  retryMs: number | undefined
}

/** The data of each event. Events without data are sent so that a client can resume the stream. Returns its end. */
const eventsOf = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<string, StreamEnd> {
  const parser = createEventParser({ maxEventBytes: maxResponseBytes, maxEvents })
  try {
    for await (const chunk of chunksOf(body)) {
      for (const event of parser.push(chunk)) if (event !== '') yield event
    }
  } catch (error) {
    throw error instanceof EventStreamError ? unavailable(error.message, error) : error
  }
  return parser
}

const parse = (text: string): Message[] => {
  try {
    const value = parseForeignJson(text) as Message | Message[]
    return [value].flat()
  } catch (error) {
    if (error instanceof JsonTooDeep) throw unavailable(`sent JSON with more than ${maxJsonDepth} levels`, error)
    throw unavailable('sent a response that is not JSON', error)
  }
}

/** The response to a request of ours. A server numbers its own requests, possibly by the same IDs. */
const findResponse = (messages: readonly Message[], id: number): Message | undefined =>
  messages.find((message) => message?.id === id && message.method === undefined)

const isForeignRequest = (message: Message | null | undefined): message is Message & ForeignRequest =>
  typeof message?.method === 'string' &&
  (Number.isSafeInteger(message.id) || (typeof message.id === 'string' && message.id.length <= 256))

export type ForeignRequest = { id: string | number; method: string; params?: unknown }

export type AnswerRequest = (message: ForeignRequest) => Promise<void>

/** Answers the requests that a server sends beside its responses. */
export const answerRequests = async (body: ReadableStream<Uint8Array>, answer: AnswerRequest): Promise<void> => {
  let answered = 0
  for await (const event of eventsOf(body)) {
    for (const message of parse(event).filter(isForeignRequest)) {
      if (++answered > maxForeignRequests) return
      await answer(message)
    }
  }
}

interface Expected {
  id: number
  answer: AnswerRequest
  /** Requests the stream of a response from an event on. */
  resume?: ((lastEventId: string) => Promise<Response>) | undefined
  /** No stream is resumed later, by the clock of `performance`. */
  deadlineMs: number
  signal: AbortSignal | undefined
}

/** Reads a stream until it has the response. Leaving it early closes the stream, which some servers keep open. */
const readStream = async (
  body: ReadableStream<Uint8Array>,
  { id, answer }: Expected,
  count: { answered: number },
): Promise<Message | StreamEnd> => {
  const events = eventsOf(body)
  try {
    for (;;) {
      const { done, value } = await events.next()
      if (done) return value
      const messages = parse(value)
      const found = findResponse(messages, id)
      if (found) return found
      for (const message of messages.filter(isForeignRequest)) {
        if (++count.answered > maxForeignRequests) {
          throw unavailable(`sent more than ${maxForeignRequests} requests before its response`)
        }
        await answer(message)
      }
    }
  } finally {
    await events.return({ lastEventId: '', retryMs: undefined })
  }
}

const isEventStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true

/**
 * The response from an event stream. A server may end the stream before, so that it need not keep connections open, and
 * continue it when the client asks with the ID of the last event (MCP 2025-11-25, Resumability and Redelivery).
 */
const readStreams = async (first: ReadableStream<Uint8Array>, expected: Expected): Promise<Message> => {
  const count = { answered: 0 }
  let body: ReadableStream<Uint8Array> | null = first
  let lastEventId = ''
  for (let resumptions = 0; body; resumptions++) {
    const end: Message | StreamEnd = await readStream(body, expected, count)
    if (!('lastEventId' in end)) return end
    lastEventId = end.lastEventId === '' ? lastEventId : end.lastEventId
    const pauseMs = Math.min(end.retryMs ?? usualRetryMs, longestRetryMs)
    const isLate = performance.now() + pauseMs > expected.deadlineMs
    // Header values are printable ASCII.
    const isResumable = expected.resume !== undefined && /^[\x21-\x7e]{1,1024}$/.test(lastEventId)
    if (!isResumable || resumptions >= maxResumptions || isLate) break
    await delay(pauseMs, undefined, { signal: expected.signal })
    const response: Response | undefined = await expected.resume?.(lastEventId)
    body = response && isEventStream(response) ? response.body : null
  }
  throw unavailable('ended its event stream without a response')
}

/** The JSON-RPC response to a request, from a JSON body or an event stream. Answers requests of the server. */
export const readResponse = async (response: Response, expected: Expected): Promise<Message> => {
  if (!response.body) throw unavailable('sent an empty response')
  if (isEventStream(response)) return readStreams(response.body, expected)
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(response.body)) chunks.push(chunk)
  const found = findResponse(parse(Buffer.concat(chunks).toString('utf8')), expected.id)
  if (!found) throw unavailable('sent no response with the ID of the request')
  return found
}

/** The JSON-RPC error in a response of another status than 2xx. Undefined for anything else, such as a page in HTML. */
export const readErrorBody = async ({ body, headers }: Response): Promise<Message | undefined> => {
  if (!headers.get('content-type')?.includes('json')) {
    await body?.cancel()
    return undefined
  }
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of body ? chunksOf(body) : []) chunks.push(chunk)
    const [message] = parse(Buffer.concat(chunks).toString('utf8'))
    const isError = typeof message?.error === 'object' && message.error !== null && 'code' in message.error
    return isError ? message : undefined
  } catch {
    return undefined
  }
}
