import { badRequest } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound, OutboundResponse } from '../../platform/outbound/outbound.ts'
import type { PageReader } from '../../platform/sandbox/pages.ts'
import { cleanText } from '../../platform/text/text.ts'

export interface Page {
  /** Where the text is from, after redirects. */
  url: string
  contentType: string
  title: string | null
  text: string
  /** The page is longer than what was read of it. */
  truncated: boolean
}

/** For the whole page, with all redirects. */
const maxMs = 20_000
const maxBytes = 2 * 1_048_576
const maxRedirects = 5

// Says who is asking, and nothing of whom it is asked for.
const headers = {
  'user-agent': 'Atrium',
  accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, application/xml;q=0.8, */*;q=0.1',
}

const told = (message: string, cause?: unknown): ApiError => badRequest(message, { cause })

const request = async (
  outbound: Outbound,
  url: string,
  limits: { timeoutMs: number; signal: AbortSignal; orgId: string },
) => {
  try {
    return await outbound.request(url, { headers, maxBytes, ...limits })
  } catch (error) {
    if (error instanceof OutboundError) throw told(error.message, error)
    throw error
  }
}

const isRedirect = ({ status, headers }: OutboundResponse): boolean =>
  [301, 302, 303, 307, 308].includes(status) && headers['location'] !== undefined

/** The answer at the end of the redirects. Each of them is a request of its own, and is checked like the first. */
const follow = async (
  outbound: Outbound,
  first: string,
  signal: AbortSignal,
  orgId: string,
): Promise<{ url: string; answer: OutboundResponse }> => {
  const endMs = performance.now() + maxMs
  let url = first
  for (let redirects = 0; ; redirects++) {
    const leftMs = Math.ceil(endMs - performance.now())
    if (leftMs <= 0) throw told('There was no complete answer in time.')
    const answer = await request(outbound, url, { timeoutMs: leftMs, signal, orgId })
    if (!isRedirect(answer)) return { url, answer }
    if (redirects === maxRedirects) throw told(`The page redirects more than ${maxRedirects} times.`)
    const next = URL.parse(answer.headers['location'] ?? '', url)
    if (!next) throw told('The page redirects to something that is not a URL.')
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

/** The charset that the bytes begin with, that the header says, or that the page itself says in its beginning. */
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
    // A charset that nobody knows.
    return new TextDecoder().decode(bytes)
  }
}

/** Reads a page of the public Internet as text. BAD_REQUEST with what went wrong, in words for whoever named the URL. */
export const readPage = async (
  outbound: Outbound,
  reader: PageReader,
  address: string,
  signal: AbortSignal,
  orgId: string,
): Promise<Page> => {
  const { url, answer } = await follow(outbound, address, signal, orgId)
  const { status, body, truncated } = answer
  if (status < 200 || status > 299) throw told(`The server answered with the status ${status}.`)
  const encoding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding !== '' && encoding !== 'identity') throw told('The answer is compressed, which it was asked not to be.')
  const contentType = answer.headers['content-type'] ?? 'text/plain'
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  if (!isHtml(type) && !isText(type)) throw told(`The address leads to ${type.slice(0, 100)}, which is no text.`)
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
