import type { Published } from './turn-hub.ts'

/** Frames of a turn's stream on their way into the database: JSON, one a line. */
export interface Frames {
  lastSeq: number
  lines: string
}

export interface StreamLog {
  push(frame: object): void
  /** Lets `commit` write what is not written yet, after every write before it. False from it means: not ours any more. */
  write(commit: (frames: Frames | undefined) => Promise<boolean>, isResting?: boolean): Promise<void>
}

export interface StreamLogOptions {
  /** The number of the last frame that is written already. */
  lastSeq: number
  /** Writes frames alone, between checkpoints. */
  append: (frames: Frames) => Promise<boolean>
  publish: (published: Published) => void
  /** Whether somebody here waits for frames; for nobody, they may as well be written with the rest. */
  isRead: () => boolean
  /** A write failed, or the turn is not ours any more: nothing that follows can be written. */
  onBroken: (reason: Error) => void
}

/** So that a reader sees words flow, and a turn of a thousand words does not make a thousand commits. */
const flushMs = 50

/**
 * Collects the frames of one turn and writes them in order, one write at a time: a reader who asks for what comes after
 * a number never misses one that was committed late. The first frame after a pause is written at once, if it is read.
 */
export const createStreamLog = ({ lastSeq, append, publish, isRead, onBroken }: StreamLogOptions): StreamLog => {
  let seq = lastSeq
  let waiting: string[] = []
  let writing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let flushedAtMs = 0
  let broken: Error | undefined

  const writeNext = async (commit: (frames: Frames | undefined) => Promise<boolean>, isResting: boolean) => {
    if (broken) throw broken
    const lines = waiting
    waiting = []
    const firstSeq = seq + 1
    seq += lines.length
    try {
      const held = await commit(lines.length === 0 ? undefined : { lastSeq: seq, lines: lines.join('\n') })
      if (!held) throw new Error('the turn was taken over or ended by somebody else')
    } catch (error) {
      broken = error as Error
      onBroken(broken)
      throw error
    }
    if (lines.length > 0 || isResting) publish({ firstSeq, lines, isResting })
  }

  const write: StreamLog['write'] = (commit, isResting = false) => {
    clearTimeout(timer)
    timer = undefined
    flushedAtMs = performance.now()
    const result = writing.then(() => writeNext(commit, isResting))
    writing = result.catch(() => undefined)
    return result
  }

  const flush = (): void => {
    timer = undefined
    if (waiting.length === 0) return
    write((frames) => (frames ? append(frames) : Promise.resolve(true))).catch(() => undefined)
  }

  return {
    push: (frame) => {
      waiting.push(JSON.stringify(frame))
      if (timer !== undefined) return
      const sinceMs = performance.now() - flushedAtMs
      timer = setTimeout(flush, isRead() ? Math.max(0, flushMs - sinceMs) : flushMs)
    },
    write,
  }
}
