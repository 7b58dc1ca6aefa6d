import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A program of ours that reads what a stranger wrote: it gets it by standard input and answers by standard output. */
export interface SandboxProgram {
  /** Absolute path of the module that is run. */
  entry: string
  args?: readonly string[]
  /** Absolute paths of files and folders that it may read, besides the packages. */
  reads: readonly string[]
}

export interface SandboxLimits {
  timeoutMs: number
  /** Resident memory of the whole process. */
  maxRssBytes: number
  /** As `nice` counts it: 10 lets requests go first, 0 has no process wait for others. */
  niceness: number
}

export interface SandboxRun extends SandboxLimits {
  program: SandboxProgram
  source: Readable
  /** Ends the process; the answer is the signal's reason. */
  signal?: AbortSignal | undefined
}

/**
 * - `time`, `memory`: the input costs too much.
 * - `ended`: the engine or the kernel ended the process, at a limit of the heap or of processor time.
 * - `source`, `slow-source`: the bytes could not be read, or came too slowly.
 * - `start`: no process could be started.
 */
export type SandboxFailure = 'time' | 'memory' | 'ended' | 'source' | 'slow-source' | 'start'

export class SandboxError extends Error {
  readonly failure: SandboxFailure

  constructor(failure: SandboxFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SandboxError'
    this.failure = failure
  }
}

const root = join(import.meta.dirname, '../../..')

const nodeArguments = ({ entry, args = [], reads }: SandboxProgram): string[] => [
  // Megabytes. The input itself and what unpacks of it lie outside the heap. Young objects die young here: with the
  // default of 16 a PDF of 23 MB takes 235 MB of memory, with 4 it takes 175, in the same time.
  '--max-old-space-size=112',
  '--max-semi-space-size=4',
  // No file but these, no socket, no process, no thread, no addon.
  '--permission',
  ...[entry, ...reads, join(root, 'node_modules'), join(root, 'package.json')].map((path) => `--allow-fs-read=${path}`),
  '--disallow-code-generation-from-strings',
  '--no-warnings',
  entry,
  ...args,
]

const largestOutputBytes = 16_777_216
const sampleMs = 25

/** Processor time after which the kernel ends a process, even one whose server is gone. */
const cpuSeconds = 20

const start = (program: SandboxProgram, niceness: number): ChildProcess => {
  const command = [process.execPath, ...nodeArguments(program)]
  const limited = ['/bin/sh', '-c', `ulimit -t ${cpuSeconds}; ulimit -c 0; exec "$0" "$@"`, ...command]
  const [file = '', ...rest] = process.platform === 'win32' ? command : limited
  const child = spawn(file, rest, { env: {}, cwd: root, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
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

const watchMemory = (child: ChildProcess, maxRssBytes: number, onExceeded: () => void): (() => void) => {
  const sample = async (): Promise<void> => {
    const bytes = await residentBytes(child.pid ?? 0)
    if (bytes !== undefined && bytes > maxRssBytes) onExceeded()
  }
  const timer = setInterval(() => void sample(), sampleMs)
  return () => clearInterval(timer)
}

const readOutput = async (child: ChildProcess): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of child.stdout ?? []) {
      size += (chunk as Buffer).length
      if (size > largestOutputBytes) child.kill('SIGKILL')
      else chunks.push(chunk as Buffer)
    }
  } catch {
    // A process that was ended in the middle of a sentence has not answered.
    return ''
  }
  return size > largestOutputBytes ? '' : Buffer.concat(chunks).toString()
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/**
 * Runs a program in a process of its own, without environment, files, network or children, under limits of processor
 * time, wall time, memory and output. Answers what it printed; throws a SandboxError when it did not get to that.
 */
export const runInSandbox = async ({
  program,
  source,
  signal,
  timeoutMs,
  maxRssBytes,
  niceness,
}: SandboxRun): Promise<string> => {
  if (signal?.aborted) source.destroy()
  signal?.throwIfAborted()
  const child = start(program, niceness)
  let verdict: { error: unknown } | undefined
  const end = (error: unknown): void => {
    verdict ??= { error }
    child.kill('SIGKILL')
  }
  let isFed = false
  const timer = setTimeout(() => {
    // A store that is slow to hand out the bytes is not their fault; a pipe that is full is not the store's.
    const isOwnFault = isFed || child.stdin?.writableNeedDrain === true
    end(new SandboxError(isOwnFault ? 'time' : 'slow-source', `it was not done within ${timeoutMs} ms`))
  }, timeoutMs)
  const stopWatching = watchMemory(child, maxRssBytes, () =>
    end(new SandboxError('memory', `it took more than ${maxRssBytes} bytes of memory`)),
  )
  const onAbort = (): void => end(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  child.on('error', (error) => end(new SandboxError('start', 'no process could be started', { cause: error })))
  child.stderr?.resume()
  const closed = once(child, 'close')
  const feed = async (): Promise<void> => {
    try {
      await pipeline(source, child.stdin as NonNullable<ChildProcess['stdin']>)
      isFed = true
    } catch (error) {
      // A process that has seen enough stops listening, which is no failure; a source that fails is one.
      const { code = '' } = error as NodeJS.ErrnoException
      isFed = ['EPIPE', 'ECONNRESET'].includes(code) || (code === 'ERR_STREAM_PREMATURE_CLOSE' && hasEnded(child))
      if (!isFed) end(new SandboxError('source', 'the input could not be read', { cause: error }))
    }
  }
  try {
    const [output] = await Promise.all([readOutput(child), closed, feed()])
    if (verdict) throw verdict.error
    if (output === '') throw new SandboxError('ended', `the process ended with ${child.exitCode ?? child.signalCode}`)
    return output
  } finally {
    clearTimeout(timer)
    stopWatching()
    signal?.removeEventListener('abort', onAbort)
  }
}
