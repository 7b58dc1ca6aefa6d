import { url as debuggerUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'
import type { Log } from './log.ts'
import { useUnitTable } from './units.ts'
import type { Unit, UnitTable } from './units.ts'

/** The memory that both threads share. watchdog-thread.cjs repeats its layout. */
const slots = 1_024
const slotBytes = 80
const uuidLength = 36
const [beatAt, stopAt, debuggerAt] = [0, 1, 2]
const beatMs = 1_000

/** Recording a unit writes 73 bytes into shared memory: 0.2 µs. */
const createTable = (memory: SharedArrayBuffer): UnitTable => {
  const bytes = Buffer.from(memory)
  const free = Array.from({ length: slots }, (_, slot) => slots - 1 - slot)
  return {
    add: ({ kind, id, orgId }) => {
      const slot = free.pop()
      // When there are more units than slots, the others are not recorded.
      if (slot === undefined) return -1
      const text = kindLetters[kind] + (orgId ?? '').padEnd(uuidLength) + id.slice(0, uuidLength).padEnd(uuidLength)
      bytes.write(text, slot * slotBytes, slotBytes, 'latin1')
      return slot
    },
    remove: (slot) => {
      if (slot === -1) return
      bytes[slot * slotBytes] = 0
      free.push(slot)
    },
  }
}

const kindLetters: Record<Unit['kind'], string> = { turn: 't', tool: 'c', job: 'j', delivery: 'd' }

export interface Watchdog {
  stop(): void
}

/**
 * Ends the process when its event loop is blocked for this many seconds: leases, heartbeats and requests are then blocked
 * as well, and only another process can continue the work. A thread writes one line with the running units to standard
 * error and sends SIGALRM, so the exit code is 142.
 *
 * The thread counts seconds by its own timer, which stands still while the machine sleeps or the process is stopped. It
 * does not end a process with an attached debugger.
 */
export const startWatchdog = (seconds: number, log: Log): Watchdog => {
  const state = new Int32Array(new SharedArrayBuffer(16))
  const units = new SharedArrayBuffer(slots * slotBytes)
  useUnitTable(createTable(units))
  const beat = (): void => {
    Atomics.add(state, beatAt, 1)
    Atomics.store(state, debuggerAt, debuggerUrl() === undefined ? 0 : 1)
  }
  beat()
  const timer = setInterval(beat, beatMs).unref()
  // Without TypeScript and loader and with a small heap, the thread takes 6 MB.
  const thread = new Worker(new URL('watchdog-thread.cjs', import.meta.url), {
    workerData: { state, units, seconds },
    env: {},
    execArgv: [],
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
  })
  thread.unref()
  thread.on('error', (error) => log.error({ err: error }, 'the event-loop watchdog failed'))
  return {
    stop: () => {
      clearInterval(timer)
      useUnitTable(undefined)
      Atomics.store(state, stopAt, 1)
      Atomics.notify(state, stopAt)
    },
  }
}
