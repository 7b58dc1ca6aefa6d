// A remote agent on loopback with the official server library, in the revisions 1.0 and 0.3.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { Part } from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import type { ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'

export const states = { working: 2, completed: 3, failed: 4, canceled: 5, inputRequired: 6 }

export interface SeenRequest {
  headers: IncomingHttpHeaders
  method: string
  params: Record<string, unknown> | undefined
}

/** What the agent does with one message. */
export interface Work {
  text: string
  taskId: string
  contextId: string
  /** Publishes the task in a state, with a message. */
  publish(state: number, message?: string): void
  /** Publishes an artifact of the task. */
  artifact(parts: Part[]): void
  /** Replies directly, without a task. */
  reply(text: string): void
}

export interface FakeAgent {
  /** The URL before `/.well-known/agent-card.json`. */
  url: string
  seen: SeenRequest[]
  /** Requests without it get 401. Undefined: everybody may call. */
  token: string | undefined
  /** Changes of the card. */
  card: Record<string, unknown>
  onMessage: (work: Work) => void | Promise<void>
  /** Tasks that were cancelled. */
  cancelled: string[]
  /** Sends the response to a request itself, and returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
}

export const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})

const messageOf = (contextId: string, taskId: string, text: string) => ({
  messageId: `reply-${taskId}-${text.length}`,
  contextId,
  taskId,
  role: 2,
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
})

const statusOf = (ids: { taskId: string; contextId: string }, state: number, message?: string) => ({
  state,
  message: message === undefined ? undefined : messageOf(ids.contextId, ids.taskId, message),
  timestamp: new Date().toISOString(),
})

const workOf = ({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Work => {
  const ids = { taskId, contextId }
  let isStarted = false
  const begin = (state: number, message?: string): void => {
    isStarted = true
    const history = [...(task?.history ?? []), userMessage]
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: statusOf(ids, state, message),
        artifacts: task?.artifacts ?? [],
        history,
        metadata: undefined,
      }),
    )
  }
  return {
    text: userMessage.parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join(''),
    ...ids,
    publish: (state, message) => {
      if (!isStarted) begin(state, message)
      else bus.publish(AgentEvent.statusUpdate({ ...ids, status: statusOf(ids, state, message), metadata: undefined }))
    },
    artifact: (parts) => {
      if (!isStarted) begin(states.working)
      const artifact = { artifactId: 'a', name: 'result', description: '', parts, metadata: undefined, extensions: [] }
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact, append: false, lastChunk: true, metadata: undefined }))
    },
    reply: (text) => {
      bus.publish(AgentEvent.message(messageOf(contextId, taskId, text)))
    },
  }
}

const cardOf = (url: string): Record<string, unknown> => ({
  name: 'Weather',
  description: 'Knows the weather.',
  version: '1.0.0',
  capabilities: { streaming: false, pushNotifications: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'forecast', name: 'Forecast', description: 'Says what comes.', tags: [] }],
  supportedInterfaces: [
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3', tenant: '' },
  ],
})

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Listens until the last test of the file has ended. */
export const startA2aAgent = async (): Promise<FakeAgent> => {
  const buses = new Map<string, ExecutionEventBus>()
  const handler = new DefaultRequestHandler(cardOf('http://127.0.0.1') as never, new InMemoryTaskStore(), {
    execute: async (context, bus) => {
      buses.set(context.taskId, bus)
      await agent.onMessage(workOf(context, bus))
      bus.finished()
    },
    cancelTask: async (taskId, bus) => {
      agent.cancelled.push(taskId)
      const ids = { taskId, contextId: '' }
      for (const one of [buses.get(taskId) ?? bus, bus]) {
        one.publish(AgentEvent.statusUpdate({ ...ids, status: statusOf(ids, states.canceled), metadata: undefined }))
        one.finished()
      }
    },
  })
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (agent.intercept(request, response)) return
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const text = await readBody(request)
    if (agent.token !== undefined && request.headers.authorization !== `Bearer ${agent.token}`) {
      return send(401, { error: 'unauthorized' })
    }
    if (request.url === '/.well-known/agent-card.json') return send(200, { ...cardOf(agent.url), ...agent.card })
    if (request.method !== 'POST' || request.url !== '/rpc') return send(404, { error: 'not found' })
    const body = JSON.parse(text) as Record<string, unknown>
    agent.seen.push({
      headers: request.headers,
      method: String(body['method']),
      params: body['params'] as SeenRequest['params'],
    })
    const requestedVersion = String(request.headers['a2a-version'] ?? '0.3')
    const transport =
      requestedVersion === '0.3' ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler)
    send(200, await transport.handle(body, new ServerCallContext({ requestedVersion })))
  }
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const agent: FakeAgent = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    token: undefined,
    card: {},
    onMessage: (work) => work.reply('Sunny.'),
    cancelled: [],
    intercept: () => false,
  }
  return agent
}
