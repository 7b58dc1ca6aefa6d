import { join } from 'node:path'
import { Readable } from 'node:stream'
import { badRequest, serviceUnavailable } from '../http/errors.ts'
import { createFairQueue } from '../process/fair-queue.ts'
import type { PageLink } from '../text/html-links.ts'
import type { PageText } from '../text/html-text.ts'
import type { PageQuestion } from './page-child.ts'
import { runInSandbox, SandboxError } from './sandbox.ts'
import type { SandboxLimits } from './sandbox.ts'

export type { PageLink } from '../text/html-links.ts'
export type { PageText } from '../text/html-text.ts'

/** The person that a page is read for, whose org shares the places with others. */
export interface PageRequest {
  orgId: string
  userId: string
  signal: AbortSignal
}

export interface PageReader {
  text(html: string, base: string): Promise<PageText>
  /** The http and https links of the page, each URL once. */
  links(html: string, base: string): Promise<PageLink[]>
}

export interface Pages {
  /** Throws BAD_REQUEST when a page exceeds the limits, and SERVICE_UNAVAILABLE when too many pages wait. */
  for(request: PageRequest): PageReader
  /** Ends running readers and rejects waiting ones. */
  close(): Promise<void>
}

const text = join(import.meta.dirname, '../text')

const program = {
  entry: join(import.meta.dirname, 'page-child.ts'),
  reads: ['html-links.ts', 'html-parser.ts', 'html-text.ts'].map((name) => join(text, name)),
}

const defaultLimits: SandboxLimits = { timeoutMs: 8_000, maxRssBytes: 192 * 1_048_576, niceness: 10 }

const failureOf = (error: unknown): unknown => {
  if (!(error instanceof SandboxError)) return error
  if (error.failure === 'start') return serviceUnavailable('Pages cannot be read right now.', { cause: error.cause })
  const what = error.failure === 'time' ? 'time' : 'time or memory'
  return badRequest(`This page cannot be read: it takes too much ${what}.`, { cause: error })
}

/**
 * Reads each HTML page in a process of its own, so that no page can block or crash the server. Three at the same time, at
 * most two of one org, so that a place is left for others. Orgs take turns, and so do the people of an org.
 */
export const createPages = (given: Partial<SandboxLimits> = {}): Pages => {
  const limits = { ...defaultLimits, ...given }
  const queue = createFairQueue({
    running: 3,
    runningPerGroup: 2,
    waiting: 100,
    waitingPerGroup: 10,
    waitingPerMember: 5,
    busy: () =>
      serviceUnavailable('Too many pages are being read right now. Try again shortly.', {
        headers: { 'retry-after': '5' },
      }),
  })
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()

  const ask = async (question: PageQuestion, html: string, signal: AbortSignal): Promise<unknown> => {
    const source = Readable.from([`${JSON.stringify(question)}\n`, html])
    const work = runInSandbox({ program, source, signal: AbortSignal.any([signal, closing.signal]), ...limits })
    running.add(work)
    try {
      return JSON.parse(await work) as unknown
    } catch (error) {
      throw failureOf(error)
    } finally {
      running.delete(work)
    }
  }
  return {
    for: ({ orgId, userId, signal }) => {
      const read = <T>(question: PageQuestion, html: string): Promise<T> =>
        queue.run(() => ask(question, html, signal), { group: orgId, member: userId, signal }) as Promise<T>
      return {
        text: (html, base) => read({ kind: 'text', base }, html),
        links: (html, base) => read({ kind: 'links', base }, html),
      }
    },
    close: async () => {
      queue.close()
      closing.abort(new Error('the server is stopping'))
      await Promise.allSettled(running)
    },
  }
}
