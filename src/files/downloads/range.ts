import { isNotModified } from '../../platform/http/etag.ts'
import type { ByteRange } from '../../platform/object-store/object-store.ts'

/** The response to a request for bytes: all, a range, not modified, or an unsatisfiable range. */
export type Selection =
  | { status: 200; start: number; end: number }
  | { status: 206; start: number; end: number }
  | { status: 304 }
  | { status: 416 }

const single = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i

const rangeOf = (header: string, size: number): ByteRange | 'ignore' | 'unsatisfiable' => {
  const [, first, last, suffix] = single.exec(header.replaceAll(/[ \t]/g, '')) ?? []
  if (suffix !== undefined) {
    const length = Number(suffix)
    return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 }
  }
  if (first === undefined) return 'ignore'
  const start = Number(first)
  const end = last ? Number(last) : size - 1
  if (last && end < start) return 'ignore'
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) }
}

/**
 * RFC 9110, sections 13 and 14: conditions first, then one range. Several ranges, other units and malformed headers are
 * ignored, as the RFC allows. If-Range accepts the strong ETag only, because responses have no Last-Modified.
 */
export const selectBytes = (
  headers: { range?: string | undefined; 'if-range'?: string | undefined; 'if-none-match'?: string | undefined },
  size: number,
  etag: string,
): Selection => {
  if (isNotModified(headers['if-none-match'], etag)) return { status: 304 }
  const whole: Selection = { status: 200, start: 0, end: size - 1 }
  if (headers.range === undefined) return whole
  if (headers['if-range'] !== undefined && headers['if-range'].trim() !== etag) return whole
  const range = rangeOf(headers.range, size)
  if (range === 'ignore') return whole
  return range === 'unsatisfiable' ? { status: 416 } : { status: 206, ...range }
}
