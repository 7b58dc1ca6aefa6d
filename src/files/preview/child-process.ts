import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { serviceUnavailable } from '../../platform/errors.ts'
import type { ChildAnswer } from './child.ts'
import type { Format } from './formats.ts'
import { Refusal } from './payload.ts'
import type { PreviewPayload } from './payload.ts'

export interface ChildLimits {
  timeoutMs: number
  /** Resident memory of the whole process. */
  maxRssBytes: number
  /** As `nice` counts it: 10 lets requests go first, 0 has no process wait for others. */
  niceness: number
}

export interface ChildRun extends ChildLimits {
  format: Exclude<Format, 'text'>
  source: Readable
  /** Ends the child; the answer is the signal's reason. */
  signal?: AbortSignal | undefined
  /** Told what was wrong with a file: for the log, not for the caller. */
  onRefusal?: (detail: string) => void
}

const root = join(import.meta.dirname, '../../..')
const entry = join(import.meta.dirname, 'child.ts')

const nodeArguments = [
  // Megabytes. The file itself and what unpacks of it lie outside the heap. Young objects die young here: with the
  // default of 16 a PDF of 23 MB takes 235 MB of memory, with 4 it takes 175, in the same time.
  '--max-old-space-size=112',
  '--max-semi-space-size=4',
  '--permission',
  `--allow-fs-read=${import.meta.dirname}`,
  `--allow-fs-read=${join(root, 'node_modules')}`,
  `--allow-fs-read=${join(root, 'package.json')}`,
  '--disallow-code-generation-from-strings',
  '--no-warnings',
  entry,
]

const largestAnswerBytes = 16_777_216
const sampleMs = 25

/** Processor time after which the kernel ends a child, even one whose server is gone. */
const cpuSeconds = 20

const spawnChild = (format: string, niceness: number): ChildProcess => {
  const command = [process.execPath, ...nodeArguments, format]
  const limited = ['/bin/sh', '-c', `ulimit -t ${cpuSeconds}; ulimit -c 0; exec "$0" "$@"`, ...command]
  const [program = '', ...rest] = process.platform === 'win32' ? command : limited
  const child = spawn(program, rest, { env: {}, cwd: root, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  try {
    if (child.pid !== undefined) setPriority(child.pid, niceness)
  } catch {
    // It may be over already.
  }
  return child
}

/** Resident bytes of a process; undefined where /proc is not there to tell, or the process is not. */
const residentBytes = async (pid: number): Promise<number | undefined> => {
  const statm = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => undefined)
  return statm === undefined ? undefined : Number(statm.split(' ')[1]) * 4_096
}

/** Ends the child when it grows beyond its memory, and tells so. */
const watchMemory = (child: ChildProcess, maxRssBytes: number, onExceeded: () => void): (() => void) => {
  const sample = async (): Promise<void> => {
    const bytes = await residentBytes(child.pid ?? 0)
    if (bytes !== undefined && bytes > maxRssBytes) onExceeded()
  }
  const timer = setInterval(() => void sample(), sampleMs)
  return () => clearInterval(timer)
}

const readAnswer = async (child: ChildProcess): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of child.stdout ?? []) {
      size += (chunk as Buffer).length
      if (size > largestAnswerBytes) child.kill('SIGKILL')
      else chunks.push(chunk as Buffer)
    }
  } catch {
    // A child that was ended in the middle of a sentence has not answered.
    return ''
  }
  return Buffer.concat(chunks).toString()
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** What the child says, unless something ended it first. Throws a Refusal when the file is to blame. */
export const runChild = async (run: ChildRun): Promise<PreviewPayload> => {
  const { format, source, signal, timeoutMs, maxRssBytes, niceness } = run
  if (signal?.aborted) source.destroy()
  signal?.throwIfAborted()
  const child = spawnChild(format, niceness)
  let verdict: { error: unknown } | undefined
  const end = (error: unknown): void => {
    verdict ??= { error }
    child.kill('SIGKILL')
  }
  let isFed = false
  const timer = setTimeout(() => {
    // A store that is slow to hand out the file is not the file's fault; a pipe that is full is not the store's.
    end(
      isFed || child.stdin?.writableNeedDrain === true
        ? new Refusal('reading it takes too long')
        : serviceUnavailable('The file store is too slow right now. Try again shortly.'),
    )
  }, timeoutMs)
  const stopWatching = watchMemory(child, maxRssBytes, () => end(new Refusal('reading it takes too much memory')))
  const onAbort = (): void => end(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  child.on('error', (error) => end(serviceUnavailable('Previews cannot be made right now.', { cause: error })))
  child.stderr?.resume()
  const closed = once(child, 'close')
  const feed = async (): Promise<void> => {
    try {
      await pipeline(source, child.stdin as NonNullable<ChildProcess['stdin']>)
      isFed = true
    } catch (error) {
      // A child that has seen enough stops listening, which is no fault; a store that fails is one.
      const { code = '' } = error as NodeJS.ErrnoException
      isFed = ['EPIPE', 'ECONNRESET'].includes(code) || (code === 'ERR_STREAM_PREMATURE_CLOSE' && hasEnded(child))
      if (!isFed) end(serviceUnavailable('The file cannot be read from its store right now.', { cause: error }))
    }
  }
  try {
    const [output] = await Promise.all([readAnswer(child), closed, feed()])
    if (verdict) throw verdict.error
    return understand(output, child, run)
  } finally {
    clearTimeout(timer)
    stopWatching()
    signal?.removeEventListener('abort', onAbort)
  }
}

const understand = (output: string, child: ChildProcess, { onRefusal }: ChildRun): PreviewPayload => {
  if (output === '') {
    // The engine ends itself when its heap is full, the kernel when the processor time is used up.
    onRefusal?.(`the child ended with ${child.exitCode ?? child.signalCode}`)
    throw new Refusal('reading it takes too much memory')
  }
  const answer = JSON.parse(output) as ChildAnswer
  if ('payload' in answer) return answer.payload
  onRefusal?.(answer.detail)
  throw new Refusal(answer.refused)
}
