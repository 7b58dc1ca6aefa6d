import assert from 'node:assert/strict'
import type { Answer, TestActor, TestApp } from '../harness.ts'
import { until } from './until.ts'

export interface MadeEndpoint {
  id: string
  secret: string
  /** The endpoint in the response. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
  record: any
}

export const endpointsPath = '/api/v1/event-endpoints'

export const createEndpoint = async (app: TestApp, as: TestActor, body: object): Promise<MadeEndpoint> => {
  const json = { name: 'Warehouse', url: 'https://hooks.example.com/', types: ['agent.*'], ...body }
  const answer = await app.call('POST', endpointsPath, { as, json })
  assert.equal(answer.status, 201, answer.text)
  const { id, secret } = answer.body.data
  return { id, secret, record: answer.body.data }
}

export const patchEndpoint = async (app: TestApp, as: TestActor, { id }: MadeEndpoint, json: object) => {
  const answer = await app.call('PATCH', `${endpointsPath}/${id}`, { as, json })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

export const readEndpoint = async (app: TestApp, as: TestActor, { id }: MadeEndpoint) => {
  const answer = await app.call('GET', `${endpointsPath}/${id}`, { as })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

export interface SeenDelivery {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  isTest: boolean
  status: string
  statusReason: string | null
  nextAttemptAt: string | null
  error: string | null
  attempts: { trigger: string; at: string }[]
}

export const endpointDeliveries = async (
  app: TestApp,
  as: TestActor,
  { id }: Pick<MadeEndpoint, 'id'>,
): Promise<SeenDelivery[]> => {
  const answer = await app.call('GET', `${endpointsPath}/${id}/deliveries?limit=100`, { as })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data.items
}

/** Records `agent.created`. */
export const createAgent = async (app: TestApp, as: TestActor, name: string): Promise<string> => {
  const answer = await app.call('POST', '/api/v1/agents', { as, json: { name } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data.id
}

/** Records `agent.updated`. */
export const renameAgent = async (app: TestApp, as: TestActor, id: string, name: string): Promise<Answer> => {
  const answer = await app.call('PATCH', `/api/v1/agents/${id}`, { as, json: { name } })
  assert.equal(answer.status, 200, answer.text)
  return answer
}

export interface SeenEvent {
  id: string
  type: string
  version: number
  actor: object
  subject: { type: string; id: string }
  occurredAt: string
  chain: { id: string; depth: number }
  isDelivered: boolean
  data: Record<string, unknown>
}

/** The events about a resource in the log, oldest first, when there are as many. */
export const eventsAbout = (app: TestApp, as: TestActor, subjectId: string, count: number): Promise<SeenEvent[]> =>
  until(
    async (): Promise<SeenEvent[]> =>
      (await app.call('GET', `/api/v1/events?subjectId=${subjectId}`, { as })).body.data.items,
    (items) => items.length >= count,
  )
