import { badRequest } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound, OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { PageReader } from '../../platform/sandbox/pages.ts'
import { cleanText } from '../../platform/text/text.ts'

export interface WebPage {
  /** The URL of the text, after redirects. */
  url: string
  contentType: string
  title: string | null
  text: string
  /** Whether only the beginning of the page was read. */
  truncated: boolean
}

export interface Reading {
  signal: AbortSignal
  orgId: string
}

/** The time limit for the page including all redirects. */
const timeoutMs = 20_000
const maxBytes = 2 * 1_048_576
const maxRedirects = 5

// Identifies only this software, not the org or the person.
const headers = {
  'user-agent': 'Atrium',
  accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, application/xml;q=0.8, */*;q=0.1',
}

const failure = (message: string, cause?: unknown): ApiError => badRequest(message, { cause })

const request = async (
  outbound: Outbound,
  url: string,
  limits: { timeoutMs: number; signal: AbortSignal; orgId: string },
) => {
  try {
    return await outbound.request(url, { headers, maxBytes, ...limits })
  } catch (error) {
    if (error instanceof OutboundError) throw failure(error.message, error)
    throw error
  }
}

const isRedirect = ({ status, headers }: OutboundResponse): boolean =>
  [301, 302, 303, 307, 308].includes(status) && headers['location'] !== undefined

/** Returns the response after all redirects. The address of each redirect is checked like that of the first request. */
const followRedirects = async (
  outbound: Outbound,
  first: string,
  { signal, orgId }: Reading,
): Promise<{ url: string; response: OutboundResponse }> => {
  const deadlineMs = performance.now() + timeoutMs
  let url = first
  for (let redirects = 0; ; redirects++) {
    const leftMs = Math.ceil(deadlineMs - performance.now())
    if (leftMs <= 0) throw failure(`The page did not load within ${timeoutMs / 1_000} s.`)
    const response = await request(outbound, url, { timeoutMs: leftMs, signal, orgId })
    if (!isRedirect(response)) return { url, response }
    if (redirects === maxRedirects) throw failure(`The page redirects more than ${maxRedirects} times.`)
    const next = URL.parse(response.headers['location'] ?? '', url)
    if (!next) throw failure('The page redirects to an invalid URL.')
    url = next.href
  }
}

const isHtml = (type: string): boolean => type === 'text/html' || type === 'application/xhtml+xml'

const isText = (type: string): boolean =>
  type.startsWith('text/') ||
  /^application\/(?:.+\+)?(?:json|xml|yaml|x-yaml|ndjson|javascript|x-ndjson|toml)$/.test(type)

const byteOrderMarks: [number[], string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

/** The charset from, in this order, the byte order mark, the Content-Type header, or a meta element in the first 2 KB. */
const charsetOf = (bytes: Buffer, contentType: string, mayDeclare: boolean): string => {
  const marked = byteOrderMarks.find(([mark]) => mark.every((byte, at) => bytes[at] === byte))?.[1]
  const declared = mayDeclare
    ? /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(bytes.subarray(0, 2_048).toString('latin1'))?.[1]
    : undefined
  return marked ?? /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ?? declared ?? 'utf-8'
}

const decode = (bytes: Buffer, charset: string): string => {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    // The charset is unknown.
    return new TextDecoder().decode(bytes)
  }
}

/** Reads a page of the public Internet as text. Throws BAD_REQUEST with a message for the model. */
export const readPage = async (
  { outbound, reader }: { outbound: Outbound; reader: PageReader },
  address: string,
  reading: Reading,
): Promise<WebPage> => {
  const { url, response } = await followRedirects(outbound, address, reading)
  const { status, body, truncated, headers } = response
  if (status < 200 || status > 299) throw failure(`The server responded with status ${status}.`)
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding !== '' && encoding !== 'identity')
    throw failure('The server sent a compressed response although no compression was requested.')
  const contentType = headers['content-type'] ?? 'text/plain'
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  if (!isHtml(type) && !isText(type)) throw failure(`The URL returns ${type.slice(0, 100)}, which is not text.`)
  const decoded = decode(body, charsetOf(body, contentType, isHtml(type)))
  const page = isHtml(type) ? await reader.text(decoded, url) : { title: null, text: decoded, isCut: false }
  return {
    url,
    contentType: type,
    title: page.title && cleanText(page.title.slice(0, 500)),
    text: cleanText(page.text),
    truncated: truncated || page.isCut,
  }
}
