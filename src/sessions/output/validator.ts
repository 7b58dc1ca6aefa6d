import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import { createResidents } from '../../platform/sandbox/residents.ts'
import type { ResidentLimits } from '../../platform/sandbox/residents.ts'
import { SandboxError } from '../../platform/sandbox/sandbox.ts'
import { heapMegabytes, validationMs } from './protocol.ts'
import type { OutputQuestion, OutputReply } from './protocol.ts'

export interface OutputValidator {
  /**
   * What does not match the schema, as sentences; none when the text is JSON that matches. `exceeded`: the schema takes too
   * much time or memory to check. Rejects with the signal's reason.
   */
  validate(orgId: string, question: OutputQuestion, signal: AbortSignal): Promise<string[] | 'exceeded'>
  /** The number of its processes, for tests. */
  processes(): number
  close(): Promise<void>
}

const platform = join(import.meta.dirname, '../../platform')

const program = {
  entry: join(import.meta.dirname, 'child.ts'),
  reads: [
    join(import.meta.dirname, 'protocol.ts'),
    join(platform, 'http/json-depth.ts'),
    join(platform, 'sandbox/lines.ts'),
  ],
}

const limits: ResidentLimits = {
  heapMegabytes,
  niceness: 10,
  cpuMs: validationMs,
  // Long, because a process with low priority waits for the CPU on a busy machine, and a turn must not fail for that.
  wallMs: 30_000,
  maxRssBytes: 200 * 1_048_576,
  maxReplyBytes: 65_536,
  processes: 2,
  requests: 1_000,
  cpuSeconds: 240,
  idleMs: 60_000,
}

/** After a schema that exceeded a limit, the validations of its org pause: such an org uses a third of a core at most. */
const pauseMs = 1_000
const attempts = 3

const busy = (): Error => new Error('too many replies wait for their validation')

/**
 * Validates replies in two processes that are started when the first reply with a schema arrives. Orgs take turns, and one
 * org occupies one process at most.
 */
export const createOutputValidator = (given: Partial<ResidentLimits> = {}): OutputValidator => {
  const residents = createResidents(program, { ...limits, ...given })
  const waiting = { waiting: 4_000, waitingPerGroup: 1_000, busy }
  // An org keeps its place in the first queue during its pause, so that its next validation waits and no other org's does.
  const orgs = createFairQueue({ ...waiting, running: 10_000, runningPerGroup: 1 })
  const queue = createFairQueue({ ...waiting, running: limits.processes })

  const ask = async (orgId: string, line: string): Promise<string[] | 'exceeded'> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return (JSON.parse(await residents.ask(line, orgId)) as OutputReply).mistakes
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error
        if (error.failure === 'time' || error.failure === 'memory') return 'exceeded'
        if (attempt === attempts) throw error
      }
    }
  }

  return {
    validate: (orgId, question, signal) => {
      const of = { group: orgId, signal }
      const { promise, resolve, reject } = Promise.withResolvers<string[] | 'exceeded'>()
      const work = async (): Promise<void> => {
        const reply = await queue.run(() => ask(orgId, JSON.stringify(question)), of)
        resolve(reply)
        if (reply === 'exceeded') await delay(pauseMs, undefined, { ref: false })
      }
      orgs.run(work, of).catch(reject)
      return promise
    },
    processes: residents.count,
    close: async () => {
      orgs.close()
      queue.close()
      await residents.close()
    },
  }
}
