import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createLineSplitter } from './lines.ts'
import { residentBytes, SandboxError, startProcess } from './sandbox.ts'
import type { ProcessLimits, SandboxProgram } from './sandbox.ts'

/**
 * A sandboxed program that stays: it writes the line `ready`, and then one line for each line that it reads. Each request
 * must be answered independently of earlier ones, which may belong to other orgs.
 */
export interface ResidentLimits extends ProcessLimits {
  /** CPU time of one request. */
  cpuMs: number
  /** Time of one request, also when other processes use the CPU. */
  wallMs: number
  /** Resident memory of a process. */
  maxRssBytes: number
  maxReplyBytes: number
  /** Requests after which a process is replaced, so that it does not reach its limit of CPU seconds. */
  requests: number
  /** Processes that may exist at the same time. */
  processes: number
  /** A process without requests ends after this time, so that an idle server uses no memory for it. */
  idleMs: number
}

export interface Residents {
  /**
   * The reply of a process. The caller makes at most as many concurrent requests as there may be processes. A request gets
   * the process of the last request of its group if that is idle, so that one group does not end the processes of others.
   * Throws a SandboxError: `time` and `memory` are the fault of the request, `ended` and `start` are not.
   */
  ask(request: string, group: string): Promise<string>
  /** The number of processes, for tests. */
  count(): number
  close(): Promise<void>
}

/** Long, because no input is involved yet, and a machine that is overloaded starts processes slowly. */
const startMs = 60_000
const sampleMs = 10

/** CPU time of the main thread of a process in milliseconds. Undefined without /proc, or when the process has exited. */
const cpuMsOf = async (pid: number): Promise<number | undefined> => {
  const stat = await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').catch(() => undefined)
  return stat === undefined ? undefined : Number(stat.split(' ')[0]) / 1e6
}

/** V8 aborts a process whose heap is full: by SIGABRT, SIGTRAP or SIGILL, depending on the platform. */
const heapSignals = new Set<string | null>(['SIGABRT', 'SIGTRAP', 'SIGILL'])

interface Resident {
  child: ChildProcess
  pid: number
  asked: number
  /** Of the last request. */
  group: string
  isEnding: boolean
  /** Reads the next line. */
  next(): Promise<string>
  kill(error: SandboxError): void
  closed: Promise<void>
}

const spawnResident = (program: SandboxProgram, limits: ResidentLimits): Resident => {
  const child = startProcess(program, limits)
  let waiting: PromiseWithResolvers<string> | undefined
  let verdict: SandboxError | undefined
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  child.stderr?.resume()
  // A process that ended while it was written to is reported by its exit.
  child.stdin?.on('error', () => undefined)
  child.on('error', (error) => {
    verdict ??= new SandboxError('start', 'no process could be started', { cause: error })
    waiting?.reject(verdict)
    close()
  })
  child.on('close', (code, signal) => {
    const failure = heapSignals.has(signal) || (code !== null && code > 128) ? 'memory' : 'ended'
    resident.isEnding = true
    verdict ??= new SandboxError(failure, `the process ended with ${code ?? signal}`)
    waiting?.reject(verdict)
    close()
  })
  const resident: Resident = {
    child,
    pid: child.pid ?? 0,
    asked: 0,
    group: '',
    isEnding: false,
    closed,
    next: () => {
      waiting = Promise.withResolvers()
      if (verdict) waiting.reject(verdict)
      return waiting.promise
    },
    kill: (error) => {
      verdict ??= error
      resident.isEnding = true
      child.kill('SIGKILL')
    },
  }
  const split = createLineSplitter((line) => {
    // A line that nobody asked for must not become the reply to the next request.
    if (!waiting) resident.kill(new SandboxError('ended', 'the process wrote more than a reply'))
    waiting?.resolve(line)
    waiting = undefined
  })
  // A program that writes without end must not fill the memory of the server.
  let unread = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    unread = chunk.includes(10) ? 0 : unread + chunk.length
    if (unread > limits.maxReplyBytes) resident.kill(new SandboxError('memory', 'the reply is too long'))
    else split(chunk)
  })
  return resident
}

/** Kills the process when the request exceeds a limit. Returns a function that ends the watch. */
const watch = async (resident: Resident, { cpuMs, wallMs, maxRssBytes }: ResidentLimits): Promise<() => void> => {
  const before = await cpuMsOf(resident.pid)
  const began = performance.now()
  let isOver = false
  const check = async (): Promise<void> => {
    const [used, rss] = await Promise.all([cpuMsOf(resident.pid), residentBytes(resident.pid)])
    // The process may have the next request by now, which must not end for what this one has used.
    if (isOver) return
    if (rss !== undefined && rss > maxRssBytes) resident.kill(new SandboxError('memory', `${rss} bytes were used`))
    else if (used !== undefined && before !== undefined && used - before > cpuMs) {
      resident.kill(new SandboxError('time', `more than ${cpuMs} ms of CPU time were used`))
    } else if (performance.now() - began > wallMs) {
      // Without enough CPU time the machine is overloaded, which is not the fault of the request.
      const failure = used === undefined ? 'time' : 'ended'
      resident.kill(new SandboxError(failure, `there was no reply within ${wallMs} ms`))
    }
  }
  const timer = setInterval(() => void check(), sampleMs)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}

const untilReady = async (resident: Resident): Promise<void> => {
  const timer = setTimeout(() => resident.kill(new SandboxError('start', 'the process did not start')), startMs)
  try {
    await resident.next()
  } catch (error) {
    throw new SandboxError('start', 'the process could not be started', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Processes for many short requests, for which starting a process each would be too slow. Started on demand. */
export const createResidents = (program: SandboxProgram, limits: ResidentLimits): Residents => {
  const idle: { resident: Resident; timer: NodeJS.Timeout }[] = []
  const all = new Set<Resident>()
  const ended = new SandboxError('ended', 'the process is not needed any more')
  let isClosed = false

  /** The idle process of the group; or the one that has been idle for longest, if no other one may be started. */
  const findIdle = (group: string): Resident | undefined => {
    const own = idle.findIndex(({ resident }) => resident.group === group)
    const count = [...all].filter(({ isEnding }) => !isEnding).length
    if (own === -1 && count < limits.processes) return undefined
    const [found] = idle.splice(Math.max(0, own), 1)
    clearTimeout(found?.timer)
    return found?.resident
  }
  const take = async (group: string): Promise<Resident> => {
    const found = findIdle(group)
    if (found) return found
    const resident = spawnResident(program, limits)
    all.add(resident)
    void resident.closed.then(() => {
      all.delete(resident)
      const place = idle.findIndex((one) => one.resident === resident)
      if (place !== -1) clearTimeout(idle.splice(place, 1)[0]?.timer)
    })
    await untilReady(resident)
    return resident
  }
  const giveBack = (resident: Resident): void => {
    if (isClosed || resident.isEnding || resident.asked >= limits.requests) {
      resident.kill(ended)
      return
    }
    const timer = setTimeout(() => resident.kill(ended), limits.idleMs)
    timer.unref()
    idle.push({ resident, timer })
  }

  return {
    ask: async (request, group) => {
      if (isClosed) throw ended
      const resident = await take(group)
      resident.asked += 1
      resident.group = group
      const stop = await watch(resident, limits)
      try {
        const reply = resident.next()
        resident.child.stdin?.write(`${request}\n`)
        const line = await reply
        stop()
        giveBack(resident)
        return line
      } catch (error) {
        stop()
        resident.kill(ended)
        throw error
      }
    },
    count: () => all.size,
    close: async () => {
      isClosed = true
      for (const resident of all) resident.kill(ended)
      await Promise.all([...all].map(({ closed }) => closed))
    },
  }
}
