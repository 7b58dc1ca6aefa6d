// Sessions and turns for tests.
import assert from 'node:assert/strict'
import type { Answer, TestActor, TestApp } from '../harness.ts'
import { until } from './until.ts'

export { until }

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

/** Creates and returns an agent. */
export const createAgent = async (app: TestApp, as: TestActor, json: object): Promise<Json> => {
  const { status, body } = await app.call('POST', '/api/v1/agents', { as, json })
  assert.equal(status, 201, JSON.stringify(body))
  return body.data
}

/** Creates and returns a session, with the default agent unless `json` names another one. */
export const openSession = async (app: TestApp, as: TestActor, json: object = {}): Promise<Json> => {
  const { status, body } = await app.call('POST', '/api/v1/sessions', { as, json: { agentId: 'assistant', ...json } })
  assert.equal(status, 201, JSON.stringify(body))
  return body.data
}

/** Sends a message to a session. */
export const say = (app: TestApp, as: TestActor, sessionId: string, json: object): Promise<Answer> =>
  sayWithHeaders(app, as, sessionId, { json, headers: {} })

export const sayWithHeaders = (
  app: TestApp,
  as: TestActor,
  sessionId: string,
  { json, headers }: { json: object; headers: Record<string, string> },
): Promise<Answer> => app.call('POST', `/api/v1/sessions/${sessionId}/messages`, { as, json, headers })

/** Sends a message and returns the ended turn with its reply, however long the turn takes. */
export const ask = async (app: TestApp, as: TestActor, sessionId: string, json: object): Promise<Json> => {
  const { status, body } = await say(app, as, sessionId, json)
  if (status !== 202) {
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  // On a busy machine a turn may take longer than the 55 s that the request waits.
  const { id, replyId } = body.data.turn
  const turn = await untilStatus(app, as, id, 'completed', 'failed', 'cancelled')
  const messages = await app.call('GET', `/api/v1/sessions/${sessionId}/messages?limit=100`, { as })
  return { turn, message: messages.body.data.items.find((message: Json) => message.id === replyId) }
}

/** The text of a message. */
export const textOf = (message: Json): string =>
  message.parts.flatMap((part: Json) => (part.type === 'text' ? [part.text] : [])).join('')

export const getTurn = async (app: TestApp, as: TestActor, id: string): Promise<Json> =>
  (await app.call('GET', `/api/v1/turns/${id}`, { as })).body.data

export const untilStatus = (app: TestApp, as: TestActor, turnId: string, ...statuses: string[]): Promise<Json> =>
  until(
    () => getTurn(app, as, turnId),
    (turn) => statuses.includes(turn.status),
  )

export interface StreamEvent {
  id: number
  data: Json
}

/** The events of a stream, and whether it ended with `[DONE]`. */
export const streamEventsOf = (text: string): { events: StreamEvent[]; isDone: boolean } => {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'))
  const isDone = blocks.at(-1) === 'data: [DONE]'
  const events = (isDone ? blocks.slice(0, -1) : blocks).map((block) => {
    const [, id, data] = /^id: (?:[0-9a-f-]{36}:)?(\d+)\ndata: (.+)$/.exec(block) ?? []
    assert.ok(id !== undefined && data !== undefined, `not an event: ${block}`)
    return { id: Number(id), data: JSON.parse(data) }
  })
  return { events, isDone }
}
