import { createHash, timingSafeEqual } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { unauthorized } from '../errors.ts'
import type { App } from '../http.ts'
import type { Log } from '../../process/log.ts'
import { isLoopback } from '../limits/network.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Where the requests of this route are counted. */
    durations?: Durations
  }
}

/** A gauge that is read when metrics are scraped. */
export interface GaugeSource {
  name: string
  help: string
  /** A number, or one for each value of `label`. */
  read(): number | Map<string, number> | Promise<number | Map<string, number>>
  label?: string
}

export interface MetricsOptions {
  /** Bearer token for callers from other machines. Undefined: only programs on this machine can read metrics. */
  token: string | undefined
  gauges: GaugeSource[]
  log: Log
  /** Longer requests are logged, except streams, which last as long as the client listens. */
  slowMs?: number
}

const upperBoundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const upperBoundsMs = upperBoundsSeconds.map((seconds) => seconds * 1_000)

// `aborted`: the client closed the connection before the response was complete.
const outcomes = ['aborted', '1xx', '2xx', '3xx', '4xx', '5xx'] as const
/** For each outcome: its buckets, the unbounded bucket, and the sum of milliseconds. */
const rowLength = upperBoundsMs.length + 2

interface Sample {
  labels: Record<string, string | number>
  value: number
  metricName: string
}

/**
 * The durations of one route's requests, by outcome. prom-client's histogram hashes its labels at every observation
 * (1.5 µs). Here the route is known in advance, so that an observation is two additions.
 */
class Durations {
  readonly method: string
  readonly route: string
  readonly #cells = new Float64Array(outcomes.length * rowLength)

  constructor(method: string, route: string) {
    this.method = method
    this.route = route
  }

  observe(outcome: number, milliseconds: number): void {
    let bucket = 0
    while (bucket < upperBoundsMs.length && milliseconds > (upperBoundsMs[bucket] as number)) bucket++
    const row = outcome * rowLength
    ;(this.#cells[row + bucket] as number)++
    this.#cells[row + rowLength - 1] = (this.#cells[row + rowLength - 1] as number) + milliseconds
  }

  samples(name: string): Sample[] {
    return outcomes.flatMap((status, outcome) => {
      const row = this.#cells.subarray(outcome * rowLength, (outcome + 1) * rowLength)
      const labels = { method: this.method, route: this.route, status }
      let count = 0
      const buckets = [...upperBoundsSeconds, '+Inf'].map((le, index) => {
        count += row[index] as number
        return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` }
      })
      if (count === 0) return []
      return [
        ...buckets,
        { labels, value: (row[rowLength - 1] as number) / 1_000, metricName: `${name}_sum` },
        { labels, value: count, metricName: `${name}_count` },
      ]
    })
  }
}

const outcomeOf = (response: ServerResponse): number =>
  response.writableFinished ? Math.min(5, Math.floor(response.statusCode / 100)) : 0

const logRequest = (
  write: (fields: object, message: string) => void,
  request: FastifyRequest,
  reply: FastifyReply,
  milliseconds: number,
): void => {
  if (String(reply.getHeader('content-type')).startsWith('text/event-stream')) return
  const fields = {
    requestId: request.id,
    method: request.method,
    // The pattern, not the path, keeps ids and tokens out of the log.
    route: request.routeOptions.url,
    status: reply.statusCode,
    milliseconds: Math.round(milliseconds),
  }
  write(fields, 'request')
}

/** Measures every request from the first hook until the response is sent or the client has closed the connection. */
const timeRequests = (app: App, log: Log, slowMs: number): { all: Durations[]; inFlight: () => number } => {
  // Unknown paths share one name, so that a scan for paths cannot fill the memory.
  const unknown = new Durations('*', 'unknown')
  const all = [unknown]
  const everything = log.isLevelEnabled('debug')
  let inFlight = 0
  app.addHook('onRoute', (route) => {
    const durations = new Durations([route.method].flat().join(','), route.url)
    all.push(durations)
    route.config = { ...route.config, durations }
  })
  app.addHook('onRequest', (request, reply, done) => {
    const durations = request.routeOptions.config.durations ?? unknown
    const began = performance.now()
    inFlight++
    // `close` is emitted after a finished response and after a broken connection.
    reply.raw.on('close', () => {
      inFlight--
      const milliseconds = performance.now() - began
      durations.observe(outcomeOf(reply.raw), milliseconds)
      const isSlow = milliseconds >= slowMs
      if (isSlow || everything) logRequest(log[isSlow ? 'warn' : 'debug'].bind(log), request, reply, milliseconds)
    })
    done()
  })
  return { all, inFlight: () => inFlight }
}

/** The registry, created at the first scrape, because it uses memory and samples the event loop. */
const openRegistry = async (durations: Durations[], gauges: GaugeSource[]) => {
  const { Gauge, Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const histogram = {
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte handled to the last byte sent, by route pattern.',
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ ...histogram, values: durations.flatMap((one) => one.samples(histogram.name)) }),
  }
  registry.registerMetric(histogram as unknown as InstanceType<typeof Gauge>)
  for (const source of gauges) {
    const { name, help, label } = source
    const gauge = new Gauge({
      name,
      help,
      registers: [registry],
      labelNames: label === undefined ? [] : [label],
      collect: async () => {
        gauge.reset()
        const value = await source.read()
        if (typeof value === 'number') gauge.set(value)
        else for (const [key, one] of value) gauge.set({ [label as string]: key }, one)
      },
    })
  }
  return registry
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const sameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

// A proxy on this machine also connects from loopback; requests that it forwards have one of these headers.
const forwardedFields = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']

/**
 * Whether a name can be the one of another site, which leads its visitors' browsers to this machine (DNS rebinding). An
 * address and a name without a domain cannot.
 */
const isForeignName = (host: string): boolean => {
  const { hostname } = URL.parse(`http://${host}`) ?? { hostname: '.' }
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 && hostname.includes('.')
}

/** Whether the request comes from a program on this machine, not through a proxy and not from a page of another site. */
const isLocal = ({ raw: { socket, headers } }: FastifyRequest): boolean =>
  isLoopback(socket.remoteAddress) &&
  forwardedFields.every((field) => headers[field] === undefined) &&
  !isForeignName(headers.host ?? '')

const mayRead = (request: FastifyRequest, token: string | undefined): boolean => {
  if (isLocal(request)) return true
  const [, given] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
  return token !== undefined && given !== undefined && sameText(given, token)
}

/** Counts requests and serves `GET /metrics`. Register it before every other hook and route. */
export const registerMetrics = (app: App, { token, gauges, log, slowMs = 2_000 }: MetricsOptions): void => {
  const { all, inFlight } = timeRequests(app, log, slowMs)
  let registry: ReturnType<typeof openRegistry> | undefined
  app.get(
    '/metrics',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Operations'],
        summary: 'Retrieve metrics',
        description:
          'Returns metrics in the text format of Prometheus. Allowed for programs on the same machine that use an address or a host name without a domain, and for requests with `METRICS_TOKEN` as the bearer token.',
        response: {
          200: {
            description: 'Metrics in the text format of Prometheus.',
            content: {
              'text/plain': { schema: Type.String({ examples: ['http_requests_in_flight 3\n'] }) },
            },
          },
        },
      },
    },
    async (request, reply) => {
      if (!mayRead(request, token)) {
        throw unauthorized(
          'Metrics require METRICS_TOKEN as bearer token, except from the machine of the server by its address or localhost.',
        )
      }
      registry ??= openRegistry(all, [
        ...gauges,
        { name: 'http_requests_in_flight', help: 'Requests that are being processed.', read: inFlight },
      ])
      const { contentType, metrics } = await registry.then((one) => ({
        contentType: one.contentType,
        metrics: one.metrics(),
      }))
      return reply.type(contentType).send(await metrics)
    },
  )
}
