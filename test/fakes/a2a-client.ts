// The official client of the Agent2Agent protocol, and the messages that it sends and receives.
import assert from 'node:assert/strict'
import type { Message, Part, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import type { Client } from '@a2a-js/sdk/client'
import type { TestActor } from '../harness.ts'

/** States of a task. */
export const ended = { completed: 3, failed: 4, canceled: 5, authRequired: 8 }

export const stateOf = (task: Task): number | undefined => task.status?.state

/** The official client, with the revision that it takes from the card. */
export const connectClient = async (
  as: Pick<TestActor, 'key'>,
  { slug = 'helper', isOld = false, url }: { slug?: string; isOld?: boolean; url: string },
): Promise<Client> => {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${as.key}`)
    return fetch(input, { ...init, headers })
  }
  const legacyCompat = { enabled: isOld }
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
  })
  if (!isOld) return factory.createFromUrl(`${url}/a2a/${slug}/`)
  const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat })
  const card = await resolver.resolve(`${url}/a2a/${slug}/`)
  const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '0.3')
  return factory.createFromAgentCard({ ...card, supportedInterfaces })
}

export const text = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})

let messages = 0
export const messageOf = (parts: Part[], more: Partial<Message> = {}): SendMessageRequest => ({
  tenant: '',
  message: {
    messageId: `m-${(messages += 1)}`,
    contextId: '',
    taskId: '',
    role: 1,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  },
  configuration: undefined,
  metadata: undefined,
})
export const get = (id: string, historyLength?: number) => ({
  tenant: '',
  id,
  ...(historyLength === undefined ? {} : { historyLength }),
})
export const cancel = (id: string) => ({ tenant: '', id, metadata: undefined })

export const textOf = (parts: Part[] = []): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')
export const replyOf = (task: Task): string => task.artifacts.map(({ parts }) => textOf(parts)).join('')
export const asTask = (result: Task | Message): Task => {
  assert.ok('artifacts' in result)
  return result
}

export const collect = async (stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> => {
  const updates: StreamResponse[] = []
  for await (const update of stream) updates.push(update)
  return updates
}
export const streamedText = (updates: StreamResponse[]): string =>
  updates
    .map(({ payload }) => (payload?.$case === 'artifactUpdate' ? textOf(payload.value.artifact?.parts) : ''))
    .join('')
export const lastState = (updates: StreamResponse[]): number | undefined => {
  const last = updates.at(-1)?.payload
  return last?.$case === 'statusUpdate' ? last.value.status?.state : undefined
}
