import type { FastifyReply, FastifyRequest } from 'fastify'
import { conflict } from './errors.ts'
import { revalidated } from './response-headers.ts'

/**
 * The strong entity tag of a row that counts its own revisions. `moving` is what changes in its record without being a
 * change of it: counters, times of use.
 */
export const etagOf = (row: { revision: number }, moving: readonly unknown[] = []): string =>
  `"${[row.revision, ...moving].map((part) => String(part)).join('.')}"`

/** A tag without what moves. */
const revisionTagOf = (tag: string): string => tag.replace(/^"(\d+)\.[^"]*"$/, '"$1"')

const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/**
 * Checks `If-Match` against the row as it stands, inside the transaction that will change it. A mismatch is CONFLICT;
 * `*` matches anything; a weak tag never matches (RFC 9110, 13.1.1).
 */
export const requireMatch = (ifMatch: string | undefined, row: { revision: number }): void => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (!tagsOf(ifMatch).map(revisionTagOf).includes(etagOf(row))) {
    throw conflict('It has changed since you read it: If-Match names another version. Read it again and retry.')
  }
}

/** For a route on something without an entity tag: no tag matches it, only `*` does. */
export const refuseTags = async ({ headers }: FastifyRequest): Promise<void> => {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined && ifMatch.trim() !== '*') throw conflict('This has no versions that If-Match could name.')
}

/** True when the client's copy is current, by `If-None-Match` (weak comparison, RFC 9110, 13.1.2). */
export const isNotModified = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false
  const plain = etag.replace(/^W\//, '')
  return tagsOf(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === plain)
}

/** Answers one resource with its ETag, or 304 when the client already has it. */
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
