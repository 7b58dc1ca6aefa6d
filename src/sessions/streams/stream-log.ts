import type { StreamUpdate } from './turn-notifier.ts'

/** Consecutive stream parts as one row of turn_events: one JSON object per line. */
export interface StreamLines {
  /** The number of the last line. */
  lastSeq: number
  lines: string
}

export interface StreamLog {
  push(part: object): void
  /**
   * Passes the lines that are not written yet to `commit`, after all earlier writes. `commit` returns false when the lease
   * is lost; then this and every later write rejects.
   */
  write(commit: (lines: StreamLines | undefined) => Promise<boolean>, isEnd?: boolean): Promise<void>
}

export interface StreamLogOptions {
  /** The number of the last line that is already written. */
  lastSeq: number
  /** Writes lines between checkpoints. */
  append: (lines: StreamLines) => Promise<boolean>
  publish: (update: StreamUpdate) => void
  /** Whether a stream waits for lines. Without one, the first line is not written early. */
  isRead: () => boolean
  /** A write failed or the lease is lost: nothing more can be written. */
  onFailure: (reason: Error) => void
}

/** Short enough that text appears to flow; long enough that 1,000 deltas do not become 1,000 commits. */
const flushMs = 50

/**
 * Collects the stream parts of one turn and writes them in order, one write at a time. If two writes could overlap, a
 * reader that has read up to a number would miss a smaller one that is committed later. The first part after a pause is
 * written immediately when a stream reads it.
 */
export const createStreamLog = ({ lastSeq, append, publish, isRead, onFailure }: StreamLogOptions): StreamLog => {
  let seq = lastSeq
  let waiting: string[] = []
  let writing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let flushedAtMs = 0
  let failure: Error | undefined

  const writeNext = async (commit: (lines: StreamLines | undefined) => Promise<boolean>, isEnd: boolean) => {
    if (failure) throw failure
    const lines = waiting
    waiting = []
    const firstSeq = seq + 1
    seq += lines.length
    try {
      const isLeased = await commit(lines.length === 0 ? undefined : { lastSeq: seq, lines: lines.join('\n') })
      if (!isLeased) throw new Error('the lease on the turn is lost')
    } catch (error) {
      failure = error as Error
      onFailure(failure)
      throw error
    }
    if (lines.length > 0 || isEnd) publish({ firstSeq, lines, isEnd })
  }

  const write: StreamLog['write'] = (commit, isEnd = false) => {
    clearTimeout(timer)
    timer = undefined
    flushedAtMs = performance.now()
    const result = writing.then(() => writeNext(commit, isEnd))
    writing = result.catch(() => undefined)
    return result
  }

  const flush = (): void => {
    timer = undefined
    if (waiting.length === 0) return
    write((lines) => (lines ? append(lines) : Promise.resolve(true))).catch(() => undefined)
  }

  return {
    push: (part) => {
      waiting.push(JSON.stringify(part))
      if (timer !== undefined) return
      const sinceMs = performance.now() - flushedAtMs
      timer = setTimeout(flush, isRead() ? Math.max(0, flushMs - sinceMs) : flushMs)
    },
    write,
  }
}
