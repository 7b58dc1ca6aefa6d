import { Type } from 'typebox'
import type { Config } from '../config/config.ts'
import { eventTypes } from '../outbox/catalog.ts'
import type { EventDefinition } from '../outbox/define.ts'
import type { Expanders } from '../outbox/expand.ts'
import type { Database } from '../platform/database/database.ts'
import { apiPrefix } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { IdParams, ok, Success } from '../platform/http/schemas.ts'
import * as events from './events.ts'
import { EventList, EventListQuery, EventQuery, EventTypeRecord, ExpandedEvent } from './schemas.ts'

const tags = ['Events']

export interface EventDeps {
  config: Config
  db: Database
  expanders: Expanders
}

const typeRecords = (Object.entries(eventTypes) as [string, EventDefinition][]).map(([type, definition]) => ({
  type,
  version: definition.version,
  description: definition.description,
  permission: `${definition.area}:read`,
  ownerPermission: definition.owner === undefined ? null : `${definition.owner.area}:read`,
  isOwnerOnly: definition.owner?.isOnlyReader === true,
  subject: definition.subject,
  dataSchema: JSON.parse(JSON.stringify(definition.data)) as object,
  exampleData: definition.example,
}))

export const registerEventRoutes = (app: App, { db, expanders }: EventDeps): void => {
  app.get(
    `${apiPrefix}/event-types`,
    {
      config: { access: 'member' },
      schema: {
        tags,
        summary: 'List event types',
        description:
          'Returns every type of event with the JSON Schema of its data, an example and the permission to read it.',
        response: { 200: Success(Type.Object({ items: Type.Array(EventTypeRecord, { description: 'All types.' }) })) },
      },
    },
    () => ok({ items: typeRecords }),
  )

  app.get(
    `${apiPrefix}/events`,
    {
      config: { access: 'member', errors: ['NOT_FOUND'], what: 'Workspace' },
      schema: {
        tags,
        summary: 'List events of the org',
        description:
          'Returns the events that the caller may read, in the order in which they became visible. A consumer that sends `nextCursor` of the previous page as `after` gets every event exactly once. Events are kept for 30 days by default.',
        querystring: EventListQuery,
        response: { 200: Success(EventList) },
      },
    },
    async ({ actor, query }) => ok(await events.listEvents(db, actor, query)),
  )

  app.get(
    `${apiPrefix}/events/:id`,
    {
      config: { access: 'member', what: 'Event' },
      schema: {
        tags,
        summary: 'Retrieve an event of the org',
        description: 'Returns an event. NOT_FOUND when the caller may not read it.',
        params: IdParams,
        querystring: EventQuery,
        response: { 200: Success(ExpandedEvent) },
      },
    },
    async ({ actor, params, query }) =>
      ok(await events.getEvent(db.hot, actor, params.id, query.expand === true ? expanders : {})),
  )
}
