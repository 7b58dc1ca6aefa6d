// The message APIs of Telegram, Slack, Discord and Twilio, which reject what the real ones reject.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after } from 'node:test'

/** A message that reached a chat. */
export interface SentMessage {
  provider: string
  /** The destination in the provider's terms. */
  to: string
  text: string
  /** The message replaced an earlier one. */
  isEdit?: true
}

/** Replaces the provider's response. `arrive` stores the message first, as if the provider had accepted it. */
export type Failure = (response: ServerResponse, arrive: () => void) => void

export interface ChatProviders {
  /** For CONNECTOR_<SLUG>_BASE_URL of all four. */
  env: Record<string, string>
  messages: SentMessage[]
  /** Number of requests, including failed ones. */
  attempts(): number
  /** Applies to the next requests, one each. Resets the messages and attempts. */
  play(...failures: Failure[]): void
}

interface Received {
  headers: IncomingMessage['headers']
  text: string
}

const json = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

interface Route {
  method: string
  path: RegExp
  /** The message of the request, or undefined when the provider would reject it. */
  read(request: Received, match: RegExpExecArray): SentMessage | undefined
  accept(response: ServerResponse): void
  reject(response: ServerResponse): void
}

const parse = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>
const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max

const routes: Route[] = [
  {
    method: 'POST',
    path: /^\/bot123456:planted-telegram-token\/sendMessage$/,
    read: ({ text }) => {
      const { chat_id: chat, text: message, message_thread_id: topic } = parse(text)
      if (typeof chat !== 'number' || !isText(message, 4_096)) return undefined
      if (topic !== undefined && typeof topic !== 'number') return undefined
      return { provider: 'telegram', to: topic === undefined ? `${chat}` : `${chat}/${topic}`, text: message }
    },
    accept: (response) => json(response, 200, { ok: true, result: { message_id: 1 } }),
    reject: (response) => json(response, 400, { ok: false, error_code: 400, description: 'Bad Request' }),
  },
  {
    method: 'POST',
    path: /^\/api\/chat\.postMessage$/,
    read: ({ headers, text }) => {
      const { channel, text: message, thread_ts: thread } = parse(text)
      if (headers.authorization !== 'Bearer xoxb-planted-slack-token') return undefined
      if (typeof channel !== 'string' || !isText(message, 40_000)) return undefined
      const to = typeof thread === 'string' ? `${channel}/${thread}` : channel
      return { provider: 'slack', to, text: message }
    },
    accept: (response) => json(response, 200, { ok: true, ts: '1.000001' }),
    reject: (response) => json(response, 200, { ok: false, error: 'invalid_arguments' }),
  },
  {
    method: 'POST',
    path: /^\/commands\/T1\/planted-response-url$/,
    read: ({ headers, text }) => {
      const { response_type: kind, text: message } = parse(text)
      // The app's token must not be sent to a response_url.
      if (headers.authorization !== undefined || kind !== 'in_channel' || !isText(message, 40_000)) return undefined
      return { provider: 'slack', to: 'response_url', text: message }
    },
    accept: (response) => response.end('ok'),
    reject: (response) => response.writeHead(404).end('expired_url'),
  },
  {
    method: 'PATCH',
    path: /^\/api\/v10\/webhooks\/(\d+)\/([\w-]+)\/messages\/@original$/,
    read: ({ text }, [, , token = '']) => {
      const { content } = parse(text)
      return isText(content, 2_000) ? { provider: 'discord', to: token, text: content, isEdit: true } : undefined
    },
    accept: (response) => json(response, 200, { id: '1' }),
    reject: (response) => json(response, 400, { code: 50_006, message: 'Cannot send an empty message' }),
  },
  {
    method: 'POST',
    path: /^\/api\/v10\/webhooks\/(\d+)\/([\w-]+)$/,
    read: ({ text }, [, , token = '']) => {
      const { content } = parse(text)
      return isText(content, 2_000) ? { provider: 'discord', to: token, text: content } : undefined
    },
    accept: (response) => json(response, 200, { id: '1' }),
    reject: (response) => json(response, 400, { code: 50_006, message: 'Cannot send an empty message' }),
  },
  {
    method: 'POST',
    path: /^\/2010-04-01\/Accounts\/AC0000\/Messages\.json$/,
    read: ({ headers, text }) => {
      const form = new URLSearchParams(text)
      const body = form.get('Body')
      const basic = `Basic ${Buffer.from('AC0000:12345').toString('base64')}`
      if (headers.authorization !== basic || form.get('From') !== '+15550002' || !isText(body, 1_600)) return undefined
      return { provider: 'twilio', to: form.get('To') ?? '', text: body }
    },
    accept: (response) => json(response, 201, { sid: 'SM9', status: 'queued' }),
    reject: (response) => json(response, 400, { code: 21_602, message: 'Message body is required.', status: 400 }),
  },
]

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Starts all four on one port, which closes after the last test of the file. */
export const startChatProviders = async (): Promise<ChatProviders> => {
  let failures: Failure[] = []
  let attempts = 0
  const messages: SentMessage[] = []
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    void (async () => {
      const text = await readBody(request)
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      const route = routes.find(({ method, path }) => method === request.method && path.test(pathname))
      attempts += 1
      const message = route?.read({ headers: request.headers, text }, route.path.exec(pathname) as RegExpExecArray)
      const failure = failures.shift()
      const arrive = (): void => {
        if (message) messages.push(message)
      }
      if (failure) failure(response, arrive)
      else if (!route) response.writeHead(404).end('{}')
      else if (!message) route.reject(response)
      else {
        arrive()
        route.accept(response)
      }
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${address.port}`
  return {
    env: Object.fromEntries(
      ['TELEGRAM', 'SLACK', 'DISCORD', 'TWILIO'].map((slug) => [`CONNECTOR_${slug}_BASE_URL`, url]),
    ),
    messages,
    attempts: () => attempts,
    play: (...next) => {
      failures = next
      messages.length = 0
      attempts = 0
    },
  }
}

export const respondWith =
  (status: number, body: unknown, headers: Record<string, string> = {}): Failure =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

/** Stores the message and closes the connection without a response. */
export const hangUpAfterArrival: Failure = (response, arrive) => {
  arrive()
  response.destroy()
}
