import { Type } from 'typebox'
import type { Static } from 'typebox'
import { CursorQuery, IdOf } from '../../platform/http/schemas.ts'

const fewerItems =
  'With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only.'

const timeFilters = (what: string) => ({
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: `Return only ${what} at this time or later. Default: all.`,
      examples: ['2026-11-21T00:00:00.000Z'],
    }),
  ),
  until: Type.Optional(
    Type.String({
      format: 'date-time',
      description: `Return only ${what} at this time or earlier. Default: all.`,
      examples: ['2026-11-22T00:00:00.000Z'],
    }),
  ),
})

const typeFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: `Return only events of this type, such as \`order.created\` or \`order.*\`, 1–255 characters. Letter case is ignored. ${fewerItems} Default: all.`,
    examples: ['order.*'],
  }),
)

const eventFilters = {
  type: typeFilter,
  status: Type.Optional(
    Type.Enum(['recorded', 'filtered'], {
      description: `Return only events with this status. ${fewerItems} Default: all.`,
      examples: ['recorded'],
    }),
  ),
  ...timeFilters('events that were received'),
}

export const EventListQuery = Type.Object({ ...CursorQuery.properties, ...eventFilters })
export type EventFilterQuery = Static<typeof EventListQuery>

export const RecentEventsQuery = Type.Object({
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 100,
    description: 'Maximum number of items to return, 1–100. Default 100.',
  }),
  cursor: CursorQuery.properties.cursor,
  ...eventFilters,
})

export const DeliveryListQuery = Type.Object({
  ...CursorQuery.properties,
  status: Type.Optional(
    Type.Enum(['unfinished', 'succeeded', 'failed'], {
      description:
        '`unfinished`: only deliveries that are pending, sending or held. `succeeded` and `failed`: only those that ended so. With `succeeded` a page can have fewer items than `limit`, or none, because failed deliveries between them count; `nextCursor` is null on the last page only. Default: all.',
      examples: ['failed'],
    }),
  ),
  type: typeFilter,
  eventId: Type.Optional(IdOf(`Return only deliveries of this event, oldest first. ${fewerItems} Default: all.`)),
  ...timeFilters('deliveries that were created'),
})
export type DeliveryListQuery = Static<typeof DeliveryListQuery>
