import { Type } from 'typebox'
import type { Static, TObject, TSchema, TString, TUnsafe } from 'typebox'

// `description` and `examples` are for the API reference: scripts/openapi/examples.ts composes the examples of
// requests and responses from them. Validation and serialisation ignore both.

/** An ID with a description of what it identifies. */
export const IdOf = (description: string): TString => Type.String({ format: 'uuid', description })

export const Id = IdOf('Unique ID, a UUID version 7.')

/** A time with a description of what happened then; `example` is null for one that is mostly null. */
export const TimestampOf = (description: string, example?: string | null): TString =>
  Type.String({ format: 'date-time', description, ...(example === undefined ? {} : { examples: [example] }) })

export const Timestamp = TimestampOf('Time in ISO 8601, UTC, with milliseconds.')
export const CreatedAt = TimestampOf('Time of creation.', '2026-11-20T08:15:30.125Z')
export const UpdatedAt = TimestampOf('Time of the last change.', '2026-11-21T14:02:11.480Z')

/**
 * The schema or null. Uses a list of types if possible, because the serialiser runs a validator on every value of a
 * union. `description` is for a schema without a description.
 */
export const Nullable = <T extends TSchema>(schema: T, description?: string): TUnsafe<Static<T> | null> => {
  const { type } = schema as { type?: unknown }
  const options = description === undefined ? {} : { description }
  return Type.Unsafe<Static<T> | null>(
    typeof type === 'string'
      ? { ...schema, type: [type, 'null'], ...options }
      : Type.Union([schema, Type.Null()], options),
  )
}

/** `{ success: true, data }` */
export const Success = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Literal(true, { description: 'Always true.' }), data })

export const ok = <T>(data: T): { success: true; data: T } => ({ success: true, data })

export const Deleted = Type.Object(
  { deleted: Type.Literal(true, { description: 'Always true.' }) },
  { description: 'Confirmation that the resource is deleted.' },
)

/** Path parameters of a route on one resource. A malformed ID is rejected like a missing resource. */
export const IdParams = Type.Object({ id: IdOf('ID of the resource, a UUID.') })

const Limit = Type.Integer({
  minimum: 1,
  maximum: 100,
  default: 50,
  description: 'Maximum number of items to return, 1–100. Default 50.',
})

const Cursor = Type.String({
  maxLength: 1_024,
  description: '`nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.',
})

/** The query of every list: `page` for clients that show page numbers, `cursor` for clients that read many pages. */
export const ListQuery = Type.Object({
  limit: Limit,
  page: Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    default: 1,
    description: 'Page number, 1–1,000,000,000. Default 1. Ignored when `cursor` is sent.',
  }),
  cursor: Type.Optional(Cursor),
})
export type ListQuery = Static<typeof ListQuery>

/** The query of a list without page numbers. */
export const CursorQuery = Type.Pick(ListQuery, ['limit', 'cursor'])

/** The query of a list that returns everything, up to 1,000 items, when no limit is sent. */
export const WholeListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Maximum number of items to return, 1–100. Default: all items, up to 1,000.',
    }),
  ),
  cursor: Type.Optional(Cursor),
})
export type WholeListQuery = Static<typeof WholeListQuery>

const nextCursor = Nullable(
  Type.String({ description: 'Send it as `cursor` to get the next page. Null on the last page.', examples: [null] }),
)

/** A list with page numbers and a cursor. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      items: Type.Array(item, { description: 'Items of this page.' }),
      page: Type.Integer({ description: 'Page number, from 1.', examples: [1] }),
      limit: Type.Integer({ description: 'Maximum number of items in a page.', examples: [50] }),
      total: Type.Integer({ description: 'Number of items on all pages.', examples: [1] }),
      hasMore: Type.Boolean({ description: 'Whether there is another page.' }),
      nextCursor,
    },
    { description: 'A page of the list.' },
  )

/** A list without page numbers. */
export const CursorList = <T extends TSchema>(item: T) =>
  Type.Object(
    { items: Type.Array(item, { description: 'Items of this page.' }), nextCursor },
    { description: 'A page of the list.' },
  )

/** At least one of the properties must be sent: the body of a PATCH. */
export const Patch = <T extends TObject>(schema: T) => {
  const { examples } = schema as { examples?: unknown[] }
  return Type.Partial(schema, { minProperties: 1, ...(examples === undefined ? {} : { examples }) })
}

/** A binary response, for the API reference only: streamed bodies are not serialised by a schema. */
export const Bytes = (description: string, type = 'application/octet-stream') => ({
  description,
  content: { [type]: { schema: Type.Unknown() } },
})

const turnEvents = 'id: 1\ndata: {"type":"text-delta","id":"1.1.1","delta":"Hello"}\n\ndata: [DONE]\n\n'

const eventStreamContent = (example: string) => ({
  'text/event-stream': { schema: Type.String({ description: 'Server-sent events.', examples: [example] }) },
})

/** A response of server-sent events, for the API reference only. */
export const EventStream = (description: string) => ({ description, content: eventStreamContent(turnEvents) })

/** A response of JSON, or of server-sent events when the client asks for them. The schema serialises the JSON. */
export const JsonOrEventStream = <T extends TSchema>(schema: T, description: string, events = turnEvents) => ({
  description,
  content: { 'application/json': { schema }, ...eventStreamContent(events) },
})

/** A response without a body, for the API reference only. */
export const Empty = (description: string) => Type.Unsafe<undefined>({ type: 'null', description })

/** 204 */
export const Nothing = Empty('No content.')
