// Events of the log, each checked against the schema of its type.
import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { eventTypes } from '../../src/outbox/catalog.ts'
import type { EventType } from '../../src/outbox/catalog.ts'
import type { TestActor, TestApp } from '../harness.ts'
import { until } from './until.ts'

export interface LoggedEvent {
  id: string
  type: EventType
  workspaceId: string | null
  actor: { type: string; id: string | null; name: string }
  subject: { type: string; id: string }
  sequence: number
  chain: { id: string; depth: number }
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read the data of every type
  data: any
}

const ajv = new Ajv()
addFormats.default(ajv)

const assertValid = ({ type, data }: LoggedEvent): void => {
  const definition = eventTypes[type]
  assert.ok(definition, type)
  const schema = { ...(JSON.parse(JSON.stringify(definition.data)) as object), additionalProperties: false }
  assert.ok(ajv.validate(schema, data), `${type}: ${ajv.errorsText()} in ${JSON.stringify(data)}`)
}

/** The events of a subject in their order, once the last one is of the type `end`, or `end` says that they are complete. */
export const eventsOf = async (
  app: TestApp,
  as: TestActor,
  subjectId: string,
  end: EventType | ((events: LoggedEvent[]) => boolean),
): Promise<LoggedEvent[]> => {
  const events = await until<LoggedEvent[]>(
    async () => {
      const answer = await app.call('GET', `/api/v1/events?order=asc&limit=100&subjectId=${subjectId}`, { as })
      assert.equal(answer.status, 200, answer.text)
      return answer.body.data.items
    },
    (items) => (typeof end === 'string' ? items.at(-1)?.type === end : end(items)),
  )
  for (const event of events) assertValid(event)
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, index) => index + 1),
    'numbered without gaps',
  )
  return events
}

export const typesOf = (events: readonly LoggedEvent[]): EventType[] => events.map(({ type }) => type)
