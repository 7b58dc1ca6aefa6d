import { Type } from 'typebox'
import { serviceUnavailable } from '../errors.ts'
import type { App } from '../http.ts'
import { Success, ok } from '../schemas.ts'

/** A dependency of the server. */
export interface ReadinessCheck {
  /** The name in the response, such as `database`. */
  name: string
  /** Rejects when the dependency is not available. */
  check(): Promise<unknown>
}

export interface HealthOptions {
  checks: ReadinessCheck[]
  /** Problems that do not prevent the server from working. */
  warnings?: () => Promise<string[]>
  /** How long a result is cached, so that frequent checks of a load balancer do not load the dependencies. */
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

const failuresOf = async ({ checks, timeoutMs = 5_000 }: HealthOptions): Promise<Failure[]> => {
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

/** `GET /healthz`: the process is running. `GET /readyz`: its dependencies are available and it is not stopping. */
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
      config: { access: 'public', errors: ['SERVICE_UNAVAILABLE'] },
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
