import { join } from 'node:path'
import { Readable } from 'node:stream'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import { runInSandbox, SandboxError } from '../../platform/sandbox/sandbox.ts'
import type { SandboxLimits } from '../../platform/sandbox/sandbox.ts'
import type { PrintedDocument } from './document.ts'

export interface PdfPrinter {
  /** Throws SERVICE_UNAVAILABLE when too many documents wait, and the signal's reason when it is aborted. */
  print(document: PrintedDocument, of: { orgId: string; userId?: string; signal?: AbortSignal }): Promise<Buffer>
  /** Ends running processes and rejects waiting work. */
  close(): Promise<void>
}

const program = {
  entry: join(import.meta.dirname, 'pdf-child.ts'),
  reads: ['pdf-fonts.ts', 'pdf-page.ts'].map((name) => join(import.meta.dirname, name)),
}

// A document needs 0.3 s of CPU time, which a busy machine may take a minute to give. A late document is better than none;
// what a process may use is limited by its CPU time and memory.
const defaultLimits: SandboxLimits = { timeoutMs: 120_000, maxRssBytes: 256 * 1_048_576, niceness: 5 }

const retry = { headers: { 'retry-after': '5' } }

/**
 * Makes PDF files in a process each: loading the library and drawing take longer than a request may block others (300 ms
 * of CPU time), and the text comes from strangers. Without requests, there is neither a process nor the library in memory.
 * The people of an org take turns, and each has half of its waiting places.
 */
export const createPdfPrinter = (given: Partial<SandboxLimits> = {}): PdfPrinter => {
  const limits = { ...defaultLimits, ...given }
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  const queue = createFairQueue({
    running: 2,
    // Leaves a place to other orgs, which would wait for seconds otherwise.
    runningPerGroup: 1,
    waiting: 50,
    waitingPerGroup: 10,
    waitingPerMember: 5,
    busy: () => serviceUnavailable('Too many documents are being made right now. Try again shortly.', retry),
  })

  const run = async (document: PrintedDocument, signal: AbortSignal): Promise<Buffer> => {
    const source = Readable.from([JSON.stringify(document)])
    const work = runInSandbox({ program, source, signal, ...limits })
    running.add(work)
    try {
      return Buffer.from(await work, 'base64')
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error
      throw serviceUnavailable('The document could not be made. Try again shortly.', { ...retry, cause: error })
    } finally {
      running.delete(work)
    }
  }

  return {
    print: (document, { orgId, userId, signal }) => {
      const both = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal])
      return queue.run(() => run(document, both), { group: orgId, member: userId, signal: both })
    },
    close: async () => {
      queue.close()
      closing.abort(new Error('the server is stopping'))
      await Promise.allSettled(running)
    },
  }
}
