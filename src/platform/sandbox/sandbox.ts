import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A program that reads untrusted input from standard input and writes its result to standard output. */
export interface SandboxProgram {
  /** Absolute path of the module. */
  entry: string
  args?: readonly string[]
  /** Absolute paths of readable files and folders, in addition to the packages. */
  reads: readonly string[]
  /**
   * Whether the program may load native packages. Their code is not confined by the permissions of Node.js, only by the
   * limits of the process.
   */
  allowsNative?: boolean
}

export interface SandboxLimits {
  timeoutMs: number
  /** Resident memory of the whole process. */
  maxRssBytes: number
  /** The niceness of the process (see nice(1)): with 10, the server has priority. */
  niceness: number
}

export interface SandboxRun extends SandboxLimits {
  program: SandboxProgram
  source: Readable
  /** Ends the process and rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/**
 * - `time`, `memory`: the input needs too much time or memory.
 * - `ended`: the process ended without a result, most often because its heap was full.
 * - `source`, `slow-source`: reading the input failed or was too slow.
 * - `start`: the process could not be started.
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

/** Limits that the kernel and V8 enforce. */
export interface ProcessLimits {
  heapMegabytes: number
  /** CPU time after which the kernel ends the process, even when the server has exited. */
  cpuSeconds: number
  /** The niceness of the process (see nice(1)): with 10, the server has priority. */
  niceness: number
}

const nodeArguments = ({ entry, args = [], reads, allowsNative }: SandboxProgram, heapMegabytes: number): string[] => [
  // The input and its decompressed contents are outside of the heap. Most objects are short-lived: a PDF of 23 MB takes
  // 235 MB of memory with the default semi-space of 16 MB and 175 MB with 4 MB, in the same time.
  `--max-old-space-size=${heapMegabytes}`,
  '--max-semi-space-size=4',
  // Only these files, and no sockets, child processes, threads or addons.
  '--permission',
  ...(allowsNative ? ['--allow-addons'] : []),
  ...[entry, ...reads, join(root, 'node_modules'), join(root, 'package.json')].map((path) => `--allow-fs-read=${path}`),
  '--disallow-code-generation-from-strings',
  '--no-warnings',
  entry,
  ...args,
]

const largestOutputBytes = 16_777_216
const sampleMs = 25

/** Starts a process without environment, files, network and child processes. */
export const startProcess = (
  program: SandboxProgram,
  { heapMegabytes, cpuSeconds, niceness }: ProcessLimits,
): ChildProcess => {
  const command = [process.execPath, ...nodeArguments(program, heapMegabytes)]
  // The soft limit sends SIGXCPU, which differs from the SIGKILL of a kernel that is out of memory. The hard limit ends a
  // process that ignores it.
  const cpu = `ulimit -S -t ${cpuSeconds}; ulimit -H -t ${cpuSeconds + 1}`
  const limited = ['/bin/sh', '-c', `${cpu}; ulimit -c 0; ulimit -f 0; exec "$0" "$@"`, ...command]
  const [file = '', ...rest] = process.platform === 'win32' ? command : limited
  const child = spawn(file, rest, { env: {}, cwd: root, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  try {
    if (child.pid !== undefined) setPriority(child.pid, niceness)
  } catch {
    // The process may have exited.
  }
  return child
}

/** Resident memory of a process in bytes. Undefined without /proc, or when the process has exited. */
export const residentBytes = async (pid: number): Promise<number | undefined> => {
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

const readOutput = async (child: ChildProcess, onExceeded: () => void): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of child.stdout ?? []) {
      size += (chunk as Buffer).length
      if (size > largestOutputBytes) onExceeded()
      else chunks.push(chunk as Buffer)
    }
  } catch {
    // A process that was killed while writing has no result.
    return ''
  }
  return Buffer.concat(chunks).toString()
}

/** The process, once it has an id. Some errors are thrown by spawn, others are an event of a process without an id. */
const startedProcess = async (program: SandboxProgram, limits: ProcessLimits): Promise<ChildProcess> => {
  try {
    const child = startProcess(program, limits)
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    return child
  } catch (cause) {
    throw new SandboxError('start', 'no process could be started', { cause })
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/**
 * Runs a program in a process without environment, files, network and child processes, with limits of CPU time, wall
 * time, memory and output. Returns its output, or throws a SandboxError.
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
  const child = await startedProcess(program, { heapMegabytes: 112, cpuSeconds: 20, niceness }).catch(
    (error: unknown) => {
      // Otherwise it keeps a file or a connection of the store open, of which there may be too many already.
      source.destroy()
      throw error
    },
  )
  let verdict: { error: unknown } | undefined
  const end = (error: unknown): void => {
    verdict ??= { error }
    child.kill('SIGKILL')
  }
  let isFed = false
  const timer = setTimeout(() => {
    // The time limit must not count a slow store. A full pipe means that the process is slow, not the store.
    const isProcessSlow = isFed || child.stdin?.writableNeedDrain === true
    end(new SandboxError(isProcessSlow ? 'time' : 'slow-source', `the process did not end within ${timeoutMs} ms`))
  }, timeoutMs)
  const stopWatching = watchMemory(child, maxRssBytes, () =>
    end(new SandboxError('memory', `the process used more than ${maxRssBytes} bytes of memory`)),
  )
  const onExceeded = (): void => end(new SandboxError('ended', 'the process wrote too much'))
  const onAbort = (): void => end(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  // It could not be killed, and ends at its limit of CPU time.
  child.on('error', end)
  child.stderr?.resume()
  const closed = new Promise((resolve) => child.once('close', resolve))
  const feed = async (): Promise<void> => {
    try {
      await pipeline(source, child.stdin as NonNullable<ChildProcess['stdin']>)
      isFed = true
    } catch (error) {
      // A process may close its input early, which is not an error. A failed source is one.
      const { code = '' } = error as NodeJS.ErrnoException
      isFed = ['EPIPE', 'ECONNRESET'].includes(code) || (code === 'ERR_STREAM_PREMATURE_CLOSE' && hasEnded(child))
      if (!isFed) end(new SandboxError('source', 'the input could not be read', { cause: error }))
    }
  }
  try {
    const [output] = await Promise.all([readOutput(child, onExceeded), closed, feed()])
    if (verdict) throw verdict.error
    if (child.signalCode === 'SIGXCPU') throw new SandboxError('time', 'the process used up its CPU time')
    // Sent by the kernel when the machine or the container is out of memory.
    if (child.signalCode === 'SIGKILL') throw new SandboxError('memory', 'the process was killed')
    if (output === '') throw new SandboxError('ended', `the process ended with ${child.exitCode ?? child.signalCode}`)
    return output
  } finally {
    clearTimeout(timer)
    stopWatching()
    signal?.removeEventListener('abort', onAbort)
  }
}
