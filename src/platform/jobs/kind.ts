/** Name and retry policy of a kind of job. Created by `defineJob`. */
export interface JobKind<Payload extends object> {
  readonly name: string
  /** Retries after the first attempt. Then the job is `failed` and kept for 14 days. */
  readonly retryLimit: number
  /** Delay before the first retry; doubles with jitter up to `retryDelayMaxSeconds`. */
  readonly retryDelaySeconds: number
  readonly retryDelayMaxSeconds: number
  /** Time limit of an attempt, after which its signal is aborted. */
  readonly timeoutSeconds: number
  /**
   * Field of the payload that groups jobs, for example by org. A worker starts no more jobs of a group than it has slots
   * left for others, so that there is always a slot for another group. Groups, and the members of a group that `enqueue`
   * names, get free slots in turn: the one that runs the fewest comes first.
   */
  readonly fairBy: string | null
  /** Never set: a phantom field that lets the compiler check payloads. */
  readonly _payload?: Payload
}

export type JobOptions = Partial<Omit<JobKind<object>, 'name' | '_payload'>>

/** Defines a kind of job. Producers and workers, also of other versions, are connected by its name. */
export const defineJob = <Payload extends object>(name: string, options: JobOptions = {}): JobKind<Payload> => {
  if (!/^[a-z][a-z0-9.-]*$/.test(name))
    throw new Error(`invalid job name ${name}: it must contain only a-z, 0-9, dots and dashes`)
  return {
    name,
    retryLimit: 20,
    retryDelaySeconds: 2,
    retryDelayMaxSeconds: 300,
    timeoutSeconds: 3_600,
    fairBy: null,
    ...options,
  }
}

export interface JobContext {
  jobId: string
  /** 1 for the first. */
  attempt: number
  /** If this attempt fails, the job is not retried. */
  isLastAttempt: boolean
  /** Aborted if the job exceeds its time limit, is given to another worker, or the process stops. */
  signal: AbortSignal
  /** What `Place.start` passed: the work runs in the process that created it. Undefined in jobs. */
  handed?: unknown
}

export type Handler<Payload extends object> = (payload: Payload, context: JobContext) => Promise<void>
