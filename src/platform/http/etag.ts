import type { FastifyReply, FastifyRequest } from 'fastify'
import { conflict } from './errors.ts'
import { revalidated } from './response-headers.ts'

/**
 * The strong entity tag of a row with a revision number. `moving` are values of the record that change without a new
 * revision: counters, times of use.
 */
export const etagOf = (row: { revision: number }, moving: readonly unknown[] = []): string =>
  `"${[row.revision, ...moving].map((part) => String(part)).join('.')}"`

/** The tag without the `moving` values. */
const revisionTagOf = (tag: string): string => tag.replace(/^"(\d+)\.[^"]*"$/, '"$1"')

const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/**
 * Checks `If-Match` against the current row, inside the transaction that changes it. Throws CONFLICT for a mismatch;
 * `*` matches every version; a weak tag never matches (RFC 9110, 13.1.1).
 */
export const requireMatch = (ifMatch: string | undefined, row: { revision: number }): void => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (!tagsOf(ifMatch).map(revisionTagOf).includes(etagOf(row))) {
    throw conflict(
      'The resource has changed since you read it: If-Match names another version. Read it again and retry.',
    )
  }
}

/** For a resource without an entity tag: only `*` matches. */
export const rejectTags = async ({ headers }: FastifyRequest): Promise<void> => {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined && ifMatch.trim() !== '*')
    throw conflict('This resource has no ETag, so If-Match can only be *.')
}

/** True when the client's copy is current, by `If-None-Match` (weak comparison, RFC 9110, 13.1.2). */
export const isNotModified = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false
  const plain = etag.replace(/^W\//, '')
  return tagsOf(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === plain)
}

/** Sends a resource with its ETag, or 304 when the client has the current version. */
export const sendResource = <T extends { revision: number }>(
  request: FastifyRequest,
  reply: FastifyReply,
  row: T,
  moving?: readonly unknown[],
) => {
  const etag = etagOf(row, moving)
  reply.header('etag', etag)
  reply.header('cache-control', revalidated)
  if (
    (request.method === 'GET' || request.method === 'HEAD') &&
    isNotModified(request.headers['if-none-match'], etag)
  ) {
    return reply.code(304).send()
  }
  return { success: true as const, data: row }
}
