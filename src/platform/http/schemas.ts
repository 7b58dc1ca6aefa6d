import { Type } from 'typebox'
import type { Static, TObject, TSchema, TUnsafe } from 'typebox'

export const Id = Type.String({ format: 'uuid', description: 'UUIDv7' })

export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds' })

/**
 * The schema or null, as a list of types where that can be said: the serialiser tells those apart by itself, whereas
 * for a union it runs a validator on every value.
 */
export const Nullable = <T extends TSchema>(schema: T): TUnsafe<Static<T> | null> => {
  const { type } = schema as { type?: unknown }
  return Type.Unsafe<Static<T> | null>(
    typeof type === 'string' ? { ...schema, type: [type, 'null'] } : Type.Union([schema, Type.Null()]),
  )
}

/** `{ success: true, data }` */
export const Success = <T extends TSchema>(data: T) => Type.Object({ success: Type.Literal(true), data })

export const ok = <T>(data: T): { success: true; data: T } => ({ success: true, data })

export const Deleted = Type.Object({ deleted: Type.Literal(true) })

/** Path parameters of a route on one thing. A malformed id is answered like a missing thing. */
export const IdParams = Type.Object({ id: Id })

/** The query of every list: `page` for those who count, `cursor` for those who go deep. */
export const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  page: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 }),
  cursor: Type.Optional(Type.String({ maxLength: 1_024, description: 'nextCursor of the page before' })),
})
export type ListQuery = Static<typeof ListQuery>

/** The query of a list without page numbers. */
export const CursorQuery = Type.Pick(ListQuery, ['limit', 'cursor'])

/** A list whose items are reached by page or by cursor. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({
    items: Type.Array(item),
    page: Type.Integer(),
    limit: Type.Integer(),
    total: Type.Integer({ description: 'all items, on all pages' }),
    hasMore: Type.Boolean(),
    nextCursor: Nullable(Type.String()),
  })

/** A list without page numbers. */
export const CursorList = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), nextCursor: Nullable(Type.String()) })

/** At least one of the properties must be sent: the body of a PATCH. */
export const Patch = <T extends TObject>(schema: T) => Type.Partial(schema, { minProperties: 1 })

/** An answer that is bytes, for the reference: what is streamed passes no schema. */
export const Bytes = (description: string) => ({
  description,
  content: { 'application/octet-stream': { schema: Type.Unknown() } },
})

/** An answer of server-sent events, for the reference. */
export const EventStream = (description: string) => ({
  description,
  content: { 'text/event-stream': { schema: Type.String() } },
})

/** An answer without a body, for the reference. */
export const Empty = (description: string) => Type.Unsafe<undefined>({ type: 'null', description })

/** 204 */
export const Nothing = Empty('Nothing to tell')
