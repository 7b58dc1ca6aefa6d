/** What a kind of job is called and how it is tried again. Made by `defineJob`. */
export interface JobKind<Payload extends object> {
  readonly name: string
  /** How often it is tried again after its first attempt; then it is `failed` and stays to be looked at for 14 days. */
  readonly retryLimit: number
  /** The delay before the first retry; it doubles, with jitter, up to `retryDelayMaxSeconds`. */
  readonly retryDelaySeconds: number
  readonly retryDelayMaxSeconds: number
  /** After this long the attempt's signal is aborted. A worker that lives is never taken for dead before it. */
  readonly timeoutSeconds: number
  /**
   * The field of the payload that says for whom the job is. While jobs for somebody run on a worker, it starts no more
   * for them than it has places left: there is always one for whoever comes next.
   */
  readonly fairBy: string | null
  /** Never there: it lets the compiler check payloads. */
  readonly _payload?: Payload
}

export type JobOptions = Partial<Omit<JobKind<object>, 'name' | '_payload'>>

/** Defines a kind of job. The name is what ties producers and workers together, across versions too. */
export const defineJob = <Payload extends object>(name: string, options: JobOptions = {}): JobKind<Payload> => {
  if (!/^[a-z][a-z0-9.-]*$/.test(name)) throw new Error(`${name} is no name for a job: use a-z, 0-9, dots and dashes`)
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
  /** When this attempt fails, the job is given up. */
  isLastAttempt: boolean
  /** Aborted when the job takes too long, was given to another worker, or the process has to end. */
  signal: AbortSignal
}

export type Handler<Payload extends object> = (payload: Payload, context: JobContext) => Promise<void>
