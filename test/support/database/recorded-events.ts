// Reads the events of a test database, and checks that each has the data of its type.
import assert from 'node:assert/strict'
import type pg from 'pg'
import { Compile } from 'typebox/schema'
import { eventTypes } from '../../../src/outbox/catalog.ts'
import { DatabaseClient } from '../../../src/platform/database/connections/client.ts'
import { sql } from '../../../src/platform/database/database.ts'
import type { Database } from '../../../src/platform/database/database.ts'

export interface RecordedEvent {
  id: string
  type: string
  workspaceId: string | null
  subjectId: string
  actor: { type: string; id: string | null; name: string }
  data: Record<string, unknown>
}

/** The events of an org, published or not, in the order in which they were recorded. */
export const recordedEvents = (db: Database, orgId: string): Promise<RecordedEvent[]> =>
  db.rows<RecordedEvent>(sql`
    select id, type, workspace_id, subject_id, actor, data, 0 as log, position as place from events
    where org_id = ${orgId}
    union all
    select id, type, workspace_id, subject_id, actor, data, 1, seq from event_outbox where org_id = ${orgId}
    order by log, place`)

/** The schema without fields that it does not list, at every depth. */
const strict = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const inside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]))
  return 'properties' in inside ? { ...inside, additionalProperties: false } : inside
}

const validators = new Map(
  Object.entries(eventTypes).map(([type, { data }]) => [
    type,
    Compile(strict(JSON.parse(JSON.stringify(data))) as object),
  ]),
)

/** Why the data is not that of the type, or undefined. */
export const invalidData = (type: string, data: unknown): string | undefined => {
  const validator = validators.get(type)
  if (!validator) return `${type} is not in the catalog`
  if (validator.Check(data)) return undefined
  return `${type}: ${JSON.stringify(data)}: ${JSON.stringify(validator.Errors(data)[1])}`
}

const maxChecked = 20_000

/** Fails when an event that any test of the file has recorded does not have the data that its schema describes. */
export const assertValidEvents = async (connection: pg.ClientConfig): Promise<void> => {
  const client = new DatabaseClient(connection)
  try {
    await client.connect()
  } catch {
    // The test has stopped its server.
    return
  }
  try {
    const { rows: tables } = await client.query<{ found: string | null }>("select to_regclass('event_outbox') as found")
    if (tables[0]?.found == null) return
    const { rows } = await client.query<{ type: string; data: unknown }>(
      `select type, data from event_outbox union all select type, data from events limit ${maxChecked}`,
    )
    const problems = rows.map(({ type, data }) => invalidData(type, data)).filter((found) => found !== undefined)
    assert.deepEqual([...new Set(problems)].slice(0, 20), [], 'every recorded event has the data of its type')
  } finally {
    await client.end()
  }
}
