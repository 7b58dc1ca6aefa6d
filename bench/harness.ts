import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { EventEmitter } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { generateKey } from '../src/platform/key-format.ts'
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded-postgres.ts'

/** The server under test runs on this core, everything else (load, PostgreSQL) on the other. */
export const serverCore = '0'
export const loadCore = '1'

/** Benchmarks of what a whole machine does: server, PostgreSQL and load share all cores. */
export const wholeMachine = new Set(['turns'])
const cores = process.env['BENCH_WHOLE_MACHINE'] === '1' ? `0-${cpus().length - 1}` : serverCore

export interface Server {
  url: string
  pid: number
  stop(): Promise<void>
}

/** The options of `npm start` (scripts/run.sh). The baselines get the same. */
const startOptions = ['--external-memory-accounted-in-global-limit']

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface BenchDatabase {
  /** A new folder for data, removed by `stop`. */
  folder: string
  connection: { host: string; port: number; user: string; database: string }
  /** Of the owner of the only org of a server that starts with `env`. */
  key: string
  /** What a server needs to use the database and the folder. */
  env: Record<string, string>
  stop(): Promise<void>
}

/** PostgreSQL with the settings of an installation. The demo model needs `development`. */
export const startDatabase = async (mode: 'production' | 'development' = 'production'): Promise<BenchDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: folder })
  const { socketDir, port, user, database } = postgres
  const key = generateKey(mode === 'production' ? 'live' : 'dev')
  return {
    folder,
    connection: { host: socketDir, port, user, database },
    key,
    env: {
      NODE_ENV: mode,
      PORT: '0',
      DATA_DIR: folder,
      DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(socketDir)}`,
      ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      BOOTSTRAP_API_KEY: key,
    },
    stop: async () => {
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A server in production mode without rate limits, with its own database. */
export interface Installation extends Omit<BenchDatabase, 'env'> {
  server: Server
}

export const startInstallation = async (): Promise<Installation> => {
  const { env, ...database } = await startDatabase()
  const limits = { RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0', RATE_LIMIT_UPLOADS: '0' }
  const server = await startServer('src/main.ts', { ...env, ...limits })
  const stop = async (): Promise<void> => {
    await server.stop()
    await database.stop()
  }
  return { ...database, server, stop }
}

/** Starts a script on the cores of the server and waits for the line that ends in its URL. */
export const startServer = async (
  script: string,
  env: Record<string, string>,
  args: string[] = [],
): Promise<Server> => {
  const child = spawn('taskset', ['-c', cores, process.execPath, ...startOptions, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [found] = /http:\/\/\S+$/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
  })
  return {
    url,
    pid: child.pid as number,
    stop: async () => {
      running.delete(child)
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** CPU time of a process so far, in microseconds (user and system). */
export const cpuMicroseconds = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Fields 14 and 15 of proc(5), in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

export const residentBytes = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

/** Makes a process collect garbage, so that the next measurement counts only retained memory. */
export const collectGarbage = async (pid: number): Promise<void> => {
  // SIGUSR1 opens the inspector on its default port on loopback.
  process.kill(pid, 'SIGUSR1')
  await sleep(1_000)
  const targets = (await (await fetch('http://127.0.0.1:9229/json')).json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  for (const id of [1, 2]) {
    const answered = once(socket, 'message')
    socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }))
    await answered
  }
  socket.close()
  await sleep(2_000)
}

export interface Target {
  name: string
  server: Server
  path: string
  headers?: Record<string, string>
  /** Puts something new into the bytes of each request before it is sent, such as another key. */
  vary?: (request: Buffer) => void
  expectStatus: number
}

export interface Figure {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Microseconds of the server's CPU for one request. */
  cpuPerRequest: number
}

/** The client of autocannon; its types lack this method and the event `request`. */
interface Sender extends EventEmitter {
  getRequestBuffer(): Buffer
}

const measureOnce = async (target: Target, seconds: number): Promise<Figure> => {
  const before = await cpuMicroseconds(target.server.pid)
  const result = await autocannon({
    url: target.server.url + target.path,
    connections: 50,
    duration: seconds,
    headers: target.headers ?? {},
    setupClient: (client) => {
      const { vary } = target
      // Autocannon's own `setupRequest` builds every request anew, which takes longer than the server takes to reject it.
      const sender = client as unknown as Sender
      if (vary) sender.on('request', () => vary(sender.getRequestBuffer()))
    },
  })
  const cpu = (await cpuMicroseconds(target.server.pid)) - before
  const expected = result.statusCodeStats?.[`${target.expectStatus}`]?.count ?? 0
  if (result.errors > 0 || expected !== result.requests.total) {
    throw new Error(`${target.name}: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`)
  }
  return {
    requestsPerSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuPerRequest: cpu / result.requests.total,
  }
}

/** The value at the fraction `q` of the sorted values; NaN without values. */
export const quantile = (values: number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN
export const median = (values: number[]): number => quantile(values, 0.5)

/** Measures all targets in turns over several rounds, so that noise affects all of them. Returns the medians. */
export const compare = async (targets: Target[], rounds: number, seconds: number): Promise<Map<string, Figure>> => {
  const figures = new Map<string, Figure[]>(targets.map((target) => [target.name, []]))
  for (const target of targets) await measureOnce(target, 2)
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) figures.get(target.name)?.push(await measureOnce(target, seconds))
  }
  return new Map(
    [...figures].map(([name, list]) => [
      name,
      {
        requestsPerSecond: median(list.map((one) => one.requestsPerSecond)),
        p50Ms: median(list.map((one) => one.p50Ms)),
        p99Ms: median(list.map((one) => one.p99Ms)),
        cpuPerRequest: median(list.map((one) => one.cpuPerRequest)),
      },
    ]),
  )
}

/** Prints a Markdown table. */
export const printTable = (head: string[], rows: (string | number)[][]): void => {
  console.log(`| ${head.join(' | ')} |`)
  console.log(`|${head.map(() => '---').join('|')}|`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

/** Prints the date and the machine, the heading of every table. */
export const printMachine = (title: string): void => {
  const model = cpus()[0]?.model ?? 'unknown CPU'
  console.log(
    `\n### ${title}\n\n${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}\n`,
  )
}

/**
 * Starts calls at a steady rate and resolves when all have ended. It retains nothing of calls that ended: retained memory
 * lengthens garbage collection in the load generator, which would look like latency of the server.
 */
export const atSteadyRate = async (
  perSecond: number,
  forSeconds: number,
  begin: (n: number) => Promise<void>,
): Promise<void> => {
  const total = perSecond * forSeconds
  const all = Promise.withResolvers<void>()
  let ended = 0
  const run = async (n: number): Promise<void> => {
    try {
      await begin(n)
      ended += 1
      if (ended === total) all.resolve()
    } catch (error) {
      all.reject(error)
    }
  }
  const began = performance.now()
  for (let n = 0; n < total; n++) {
    void run(n)
    const aheadMs = began + (n * 1_000) / perSecond - performance.now()
    if (aheadMs > 1) await sleep(aheadMs)
  }
  await all.promise
}
