import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { badRequest, serviceUnavailable } from '../../../platform/http/errors.ts'
import type { Log } from '../../../platform/process/log.ts'
import { createFairQueue } from '../../../platform/process/fair-queue.ts'
import { createResidents } from '../../../platform/sandbox/residents.ts'
import type { ResidentLimits } from '../../../platform/sandbox/residents.ts'
import { SandboxError } from '../../../platform/sandbox/sandbox.ts'
import { evaluationMs, heapMegabytes, maxResultBytes } from './protocol.ts'
import type { TransformFault, TransformQuestion, TransformReply } from './protocol.ts'

/** The transform has no result for this event. Not retried: it would fail again. */
export class TransformError extends Error {
  /** The message without values of the event, for everybody who may read deliveries. */
  readonly shown: string

  constructor(message: string, shown: string) {
    super(message)
    this.name = 'TransformError'
    this.shown = shown
  }
}

/** Whose transform it is. The people of an org, who preview transforms, and its deliveries take turns. */
export interface TransformOwner {
  orgId: string
  /** Undefined for deliveries. */
  userId?: string | undefined
}

export interface TransformRequest extends TransformOwner {
  /** Which endpoint, or `preview`. */
  key: string
  transform: string
}

export interface Transformer {
  /**
   * The result for an event, both as JSON. Throws a TransformError, and SERVICE_UNAVAILABLE when the transform has to wait
   * for too long or the server is stopping.
   */
  apply(request: TransformRequest, event: string): Promise<string>
  /** BAD_REQUEST with the position of the first mistake. */
  check(owner: TransformOwner, transform: string): Promise<void>
  /** The number of its processes, for tests. */
  processes(): number
  close(): Promise<void>
}

interface TransformerOptions extends Partial<ResidentLimits> {
  log?: Pick<Log, 'warn'>
}

const program = {
  entry: join(import.meta.dirname, 'child.ts'),
  reads: [join(import.meta.dirname, 'protocol.ts'), join(import.meta.dirname, '../../../platform/sandbox/lines.ts')],
}

const limits: ResidentLimits = {
  heapMegabytes,
  niceness: 10,
  // The process itself limits the evaluation to 50 ms. The rest is for parsing and writing up to 1.5 MB, which is slow where
  // memory is, and for what cannot be interrupted.
  cpuMs: 4 * evaluationMs,
  wallMs: 2_000,
  // A process takes 77 MB after its first transform, and 112 MB after many events of 1.5 MB.
  maxRssBytes: 160 * 1_048_576,
  // A result is text within JSON, where a character can take six bytes.
  maxReplyBytes: 6 * maxResultBytes + 65_536,
  processes: 2,
  requests: 1_000,
  cpuSeconds: 120,
  idleMs: 60_000,
}

/** A delivery has a lease of 30 s, of which its request takes up to 15 s: no other worker may claim it while it waits. */
const maxWaitMs = 10_000
/**
 * After a transform that exceeded a limit, the transforms of its owner pause: such an owner uses about a quarter of a core,
 * by 200 ms for the transform and 130 ms for a new process.
 */
const pauseMs = 1_000

const exceeded = {
  time: `The transform exceeded its limit of ${evaluationMs} ms.`,
  memory: `The transform exceeded its limit of ${heapMegabytes} MB of memory.`,
}

const reasons: Record<string, string> = {
  D1011: 'the recursion is too deep',
  D1012: `it exceeded its limit of ${evaluationMs} ms`,
  D2014: 'a list is too long',
  D2015: 'a list is too long',
  D3137: 'it called $error',
  D3141: 'an assertion failed',
}

const reasonOf = (code: string): string =>
  reasons[code] ?? (code.startsWith('T') ? 'a value has the wrong type' : 'a value cannot be processed')

const errorOf = ({ code, position, message }: TransformFault): TransformError => {
  const place = position === null ? '' : ` at character ${position}`
  // Without a code, the message is our own or one of JavaScript, which can repeat values.
  const own = /^(The result |The function |Regular expressions )/.test(message)
  const shown =
    code === null
      ? own
        ? message
        : 'The transform failed.'
      : `The transform failed${place}: ${reasonOf(code)} (${code}).`
  return new TransformError(code === null ? message : `${message}${place && ` (character ${position})`}`, shown)
}

const busy = (): Error =>
  serviceUnavailable('Too many transforms are being evaluated right now. Try again shortly.', {
    headers: { 'retry-after': '5' },
  })

const keyOf = ({ orgId, userId = '' }: TransformOwner): string => `${orgId} ${userId}`

/**
 * Evaluates transforms in two processes that are started when the first endpoint with a transform needs one. Orgs take
 * turns, and one org occupies one process at most.
 */
export const createTransformer = ({ log, ...given }: TransformerOptions = {}): Transformer => {
  const residents = createResidents(program, { ...limits, ...given })
  const queue = createFairQueue({
    running: limits.processes,
    runningPerGroup: 1,
    waiting: 2_000,
    waitingPerGroup: 600,
    waitingPerMember: 300,
    busy,
  })
  const pausedUntil = new Map<string, number>()

  const pause = (owner: TransformOwner): void => {
    const key = keyOf(owner)
    pausedUntil.set(key, performance.now() + pauseMs)
    setTimeout(() => {
      if ((pausedUntil.get(key) ?? 0) <= performance.now()) pausedUntil.delete(key)
    }, pauseMs + 10).unref()
  }
  const pauseOf = (owner: TransformOwner): number => (pausedUntil.get(keyOf(owner)) ?? 0) - performance.now()

  const ask = async (owner: TransformOwner, question: TransformQuestion): Promise<TransformReply> => {
    try {
      const reply = JSON.parse(await residents.ask(JSON.stringify(question), owner.orgId)) as TransformReply
      if ('fault' in reply && reply.fault.code === 'D1012') pause(owner)
      return reply
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error
      if (error.failure !== 'time' && error.failure !== 'memory') {
        log?.warn({ err: error, orgId: owner.orgId }, 'a transform could not be evaluated')
        throw serviceUnavailable('The transform could not be evaluated. Try again shortly.', { cause: error })
      }
      pause(owner)
      throw new TransformError(exceeded[error.failure], exceeded[error.failure])
    }
  }

  /** Waits for the turn of the owner, and for the end of its pause, which begins when it is its turn at the latest. */
  const evaluate = async (owner: TransformOwner, question: TransformQuestion): Promise<string | null> => {
    const deadline = performance.now() + maxWaitMs
    for (;;) {
      const left = deadline - performance.now()
      const wait = pauseOf(owner)
      if (left <= Math.max(0, wait)) throw busy()
      if (wait > 0) await delay(wait)
      const signal = AbortSignal.timeout(Math.ceil(Math.max(1, deadline - performance.now())))
      const work = async () => (pauseOf(owner) > 0 ? undefined : ask(owner, question))
      const reply = await queue
        .run(work, { group: owner.orgId, member: owner.userId ?? 'deliveries', signal })
        .catch((error: unknown) => {
          throw signal.aborted && error === signal.reason ? busy() : error
        })
      if (reply === undefined) continue
      if ('fault' in reply) throw errorOf(reply.fault)
      return reply.body
    }
  }

  return {
    apply: async ({ key, transform, ...owner }, event) => {
      const body = await evaluate(owner, { key: `${keyOf(owner)} ${key}`, transform, event })
      if (body === null) throw new Error('a transform with an event has a result')
      return body
    },
    check: async (owner, transform) => {
      try {
        await evaluate(owner, { key: `${keyOf(owner)} preview`, transform, event: null })
      } catch (error) {
        throw error instanceof TransformError ? badRequest(`transform: ${error.message}`, { cause: error }) : error
      }
    },
    processes: residents.count,
    close: async () => {
      queue.close()
      await residents.close()
    },
  }
}
