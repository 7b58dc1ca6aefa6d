// A model server on loopback with the OpenAI chat completions protocol. Each test scripts its answers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after } from 'node:test'

export interface ModelRequest {
  model: string
  messages: {
    role: string
    content?: unknown
    tool_calls?: { id: string; function: { name: string } }[]
    tool_call_id?: string
  }[]
  tools?: { function: { name: string; parameters: object } }[]
  stream_options?: { include_usage?: boolean }
  max_tokens?: number
}

/** Answers one request: correctly, incorrectly, slowly or not at all. */
export type Script = (response: ServerResponse, body: ModelRequest) => void | Promise<void>

export interface FakeModel {
  /** For MODEL_<NAME>_BASE_URL. */
  baseUrl: string
  /** Environment of a server whose model `fake/m1`, which is free, is at this provider. */
  env: Record<string, string>
  /** The requests so far, oldest first. */
  requests: ModelRequest[]
  authorizations: (string | undefined)[]
  /** Sets the answers to the next requests, in order. The last one is repeated. */
  play(...scripts: Script[]): void
}

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`

const usageChunk = (usage: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [], usage })}\n\n`

const open = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** The usage that `reply` reports by default. */
export const usualUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }

/** A complete answer in pieces. With `usage: null` it reports no usage. */
export const reply =
  (
    pieces: string[],
    { usage = usualUsage, finish = 'stop' }: { usage?: object | null; finish?: string } = {},
  ): Script =>
  (response) => {
    open(response)
    for (const piece of pieces) response.write(chunk({ content: piece }))
    response.write(chunk({}, { finish_reason: finish }))
    if (usage) response.write(usageChunk(usage))
    response.end('data: [DONE]\n\n')
  }

/** Asks for tools. Arguments are sent as they are, whether they are JSON or not. */
export const callTools =
  (...calls: { id: string; name: string; args: string }[]): Script =>
  (response) => {
    open(response)
    for (const [index, { id, name, args }] of calls.entries()) {
      const half = Math.ceil(args.length / 2)
      response.write(
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args.slice(0, half) } }] }),
      )
      response.write(chunk({ tool_calls: [{ index, function: { arguments: args.slice(half) } }] }))
    }
    response.write(chunk({}, { finish_reason: 'tool_calls' }))
    response.write(usageChunk(usualUsage))
    response.end('data: [DONE]\n\n')
  }

export const rejectWith =
  (status: number, headers: Record<string, string> = {}): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message: 'Incorrect API key provided: sk-planted-secret' } }))
  }

/** Sends the pieces, then closes the connection without an end. */
export const cutAfter =
  (pieces: string[]): Script =>
  (response) => {
    open(response)
    for (const piece of pieces) response.write(chunk({ content: piece }))
    setTimeout(() => response.destroy(), 50)
  }

/** Sends the pieces and ends the response without a finish reason. */
export const endAfter =
  (pieces: string[]): Script =>
  (response) => {
    open(response)
    for (const piece of pieces) response.write(chunk({ content: piece }))
    response.end()
  }

/** Sends the pieces, then nothing for ever. */
export const hangAfter =
  (pieces: string[]): Script =>
  (response) => {
    open(response)
    response.flushHeaders()
    for (const piece of pieces) response.write(chunk({ content: piece }))
  }

/** Begins to ask for a tool, and then sends nothing for ever or closes the connection. */
export const stopInCall =
  (name: string, args: string, how: 'hang' | 'close'): Script =>
  (response) => {
    open(response)
    response.write(
      chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name, arguments: args } }] }),
    )
    if (how === 'close') setTimeout(() => response.destroy(), 50)
  }

/** An answer that is sent when it is released. `asked` resolves when the request has arrived. */
export const held = (script: Script): { script: Script; asked: Promise<void>; release: () => void } => {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  return {
    script: async (response, body) => {
      asked.resolve()
      await released.promise
      await script(response, body)
    },
    asked: asked.promise,
    release: released.resolve,
  }
}

export const garbage: Script = (response) => {
  open(response)
  response.end('data: {"choices": [{"delta"\n\ndata: nonsense\n\n')
}

const readBody = async (request: IncomingMessage): Promise<ModelRequest> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as ModelRequest
}

/** Starts the server; it is stopped after the file's last test. */
export const startFakeModel = async (): Promise<FakeModel> => {
  let scripts: Script[] = [reply(['Hello.'])]
  const requests: ModelRequest[] = []
  const authorizations: (string | undefined)[] = []
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    void (async () => {
      const body = await readBody(request)
      requests.push(body)
      authorizations.push(request.headers.authorization)
      const script = scripts.length > 1 ? scripts.shift() : scripts[0]
      await script?.(response, body)
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the fake model is not listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${address.port}/v1`
  return {
    baseUrl,
    env: {
      MODEL_PROVIDERS: 'fake',
      MODEL_FAKE_BASE_URL: baseUrl,
      MODEL_FAKE_MODELS: 'm1',
      MODEL_FAKE_FREE: '1',
    },
    requests,
    authorizations,
    play: (...next) => {
      scripts = next
      requests.length = 0
      authorizations.length = 0
    },
  }
}
