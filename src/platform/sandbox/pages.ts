import { join } from 'node:path'
import { Readable } from 'node:stream'
import { badRequest, serviceUnavailable } from '../http/errors.ts'
import type { PageLink } from '../text/html-links.ts'
import type { PageText } from '../text/html-text.ts'
import type { PageQuestion } from './page-child.ts'
import { runInSandbox, SandboxError } from './sandbox.ts'
import type { SandboxLimits } from './sandbox.ts'

export type { PageLink } from '../text/html-links.ts'
export type { PageText } from '../text/html-text.ts'

/** For whom a page is read: places are shared by org. */
export interface PageAsker {
  orgId: string
  signal: AbortSignal
}

export interface PageReader {
  text(html: string, base: string): Promise<PageText>
  /** The http and https links of the page, each target once. */
  links(html: string, base: string): Promise<PageLink[]>
}

export interface Pages {
  /** BAD_REQUEST when the page costs too much to read, SERVICE_UNAVAILABLE when too many wait. */
  for(asker: PageAsker): PageReader
  /** Ends what runs and rejects what waits. */
  close(): Promise<void>
}

/** Runs the work when there is a place for it. */
export interface PagePlaces {
  run<T>(work: () => Promise<T>, asker: PageAsker): Promise<T>
  close(): void
}

const text = join(import.meta.dirname, '../text')

const program = {
  entry: join(import.meta.dirname, 'page-child.ts'),
  reads: ['html-links.ts', 'html-parser.ts', 'html-text.ts'].map((name) => join(text, name)),
}

const usualLimits: SandboxLimits = { timeoutMs: 8_000, maxRssBytes: 192 * 1_048_576, niceness: 10 }

const failureOf = (error: unknown): unknown => {
  if (!(error instanceof SandboxError)) return error
  if (error.failure === 'start') return serviceUnavailable('Pages cannot be read right now.', { cause: error.cause })
  const what = error.failure === 'time' ? 'time' : 'time or memory'
  return badRequest(`This page cannot be read: it takes too much ${what}.`, { cause: error })
}

/** Reads HTML in processes of their own, each for one page: no page can hold up or end this process. */
export const createPages = (places: PagePlaces, given: Partial<SandboxLimits> = {}): Pages => {
  const limits = { ...usualLimits, ...given }
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
    for: (asker) => {
      const read = <T>(question: PageQuestion, html: string): Promise<T> =>
        places.run(() => ask(question, html, asker.signal), asker) as Promise<T>
      return {
        text: (html, base) => read({ kind: 'text', base }, html),
        links: (html, base) => read({ kind: 'links', base }, html),
      }
    },
    close: async () => {
      places.close()
      closing.abort(new Error('the server is stopping'))
      await Promise.allSettled(running)
    },
  }
}
