import { Type } from 'typebox'
import { serviceUnavailable } from '../errors.ts'
import type { App } from '../http.ts'
import { Success, ok } from '../schemas.ts'

/** One thing that the server cannot do without. */
export interface ReadinessCheck {
  /** As the answer names it: `database`. */
  name: string
  /** Rejects when it is away. */
  check(): Promise<unknown>
}

export interface HealthOptions {
  checks: ReadinessCheck[]
  /** What is wrong though the server can do its work, in words for the operator. */
  warnings?: () => Promise<string[]>
  /** How long one result is given to all who ask; keeps a busy balancer from loading what it asks about. */
  cacheMs?: number
  timeoutMs?: number
}

const withinMs = async (work: Promise<unknown>, timeoutMs: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}

interface Failure {
  name: string
  error: unknown
}

const failuresOf = async ({ checks, timeoutMs = 2_000 }: HealthOptions): Promise<Failure[]> => {
  const results = await Promise.all(
    checks.map(async (one): Promise<Failure[]> => {
      try {
        await withinMs(one.check(), timeoutMs)
        return []
      } catch (error) {
        return [{ name: one.name, error }]
      }
    }),
  )
  return results.flat()
}

const Status = Type.Object(
  { status: Type.Literal('ok', { description: 'Always `ok`.' }) },
  { description: 'The process is alive.' },
)
const Readiness = Type.Object(
  {
    status: Type.Literal('ok', { description: 'Always `ok`.' }),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Problems that do not stop the server from working. Absent without any.',
        examples: [['The disk of the file store is 92 % full.']],
      }),
    ),
  },
  { description: 'The server is ready.' },
)
const tags = ['Operations']

/** `GET /healthz`: the process answers. `GET /readyz`: it can do its work, and is not stopping. */
export const registerHealth = (app: App, options: HealthOptions): void => {
  const { cacheMs = 1_000 } = options
  let last: { failures: Promise<Failure[]>; warnings: Promise<string[]>; atMs: number } | undefined

  app.get(
    '/healthz',
    {
      config: { access: 'public' },
      schema: {
        tags,
        summary: 'Check liveness',
        description: 'Returns 200 while the process is alive. Checks nothing else.',
        response: { 200: Success(Status) },
      },
    },
    async () => ok({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      config: { access: 'public' },
      schema: {
        tags,
        summary: 'Check readiness',
        description:
          'Returns 200 when the server can handle requests. SERVICE_UNAVAILABLE while it starts or stops, and when the database or another dependency does not respond; the message names it.',
        response: { 200: Success(Readiness) },
      },
    },
    async () => {
      if (app.stopping.aborted) throw serviceUnavailable('Not ready: stopping')
      if (last === undefined || performance.now() - last.atMs >= cacheMs) {
        const warnings = options.warnings?.().catch(() => []) ?? Promise.resolve([])
        last = { failures: failuresOf(options), warnings, atMs: performance.now() }
      }
      const failures = await last.failures
      if (failures.length > 0) {
        throw serviceUnavailable(`Not ready: ${failures.map(({ name }) => name).join(', ')}`, {
          cause: failures[0]?.error,
        })
      }
      const warnings = await last.warnings
      return ok({ status: 'ok' as const, ...(warnings.length > 0 ? { warnings } : {}) })
    },
  )
}
