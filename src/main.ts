import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { ConfigError } from './config/config.ts'
import type { Config } from './config/config.ts'
import { openDeps } from './deps.ts'
import type { OpenedDeps } from './deps.ts'
import { bootstrap, writePrivately } from './identity/bootstrap.ts'
import type { Bootstrapped } from './identity/bootstrap.ts'
import { openDataDir, prepareDataDir } from './platform/postgres/data-dir.ts'
import type { DataDir } from './platform/postgres/data-dir.ts'
import { startEmbeddedPostgres } from './platform/postgres/embedded-postgres.ts'
import type { EmbeddedPostgres } from './platform/postgres/embedded-postgres.ts'
import { stopGracefully } from './platform/http/server/graceful.ts'
import type { App } from './platform/http/http.ts'
import { createLog } from './platform/process/log.ts'
import type { Log } from './platform/process/log.ts'
import { migrate } from './platform/database/migrate.ts'
import { StartError } from './platform/process/start-error.ts'
import { tenantRole } from './platform/database/tenant-role.ts'
import { guardProcess } from './platform/process/units.ts'
import { startWatchdog } from './platform/process/watchdog.ts'
import { readConfig } from './read-config.ts'
import { buildOperations, buildServer } from './server.ts'
import { registerJobs } from './worker.ts'

/** What this process does: answer requests, run jobs, or both. */
export type Role = 'api' | 'worker' | 'all'

/** The step list that a person follows while Atrium starts. */
const createSteps = (): (<T>(title: string, work: () => Promise<T>, detail?: (result: T) => string) => Promise<T>) => {
  return async (title, work, detail) => {
    const began = performance.now()
    const result = await work()
    const more = detail?.(result) ?? ''
    console.log(`  ✓ ${title}${more === '' ? '' : `: ${more}`} (${((performance.now() - began) / 1000).toFixed(2)} s)`)
    return result
  }
}

interface DataHome {
  path: string
  connection: pg.ClientConfig
  postgres: EmbeddedPostgres | undefined
  /** Only with the embedded database: processes that share an external one may share the directory too. */
  lock: DataDir | undefined
}

const openEmbedded = async (config: Config): Promise<DataHome> => {
  const lock = await openDataDir(config.dataDir)
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: lock.path })
    const { socketDir, port, database, user } = postgres
    await lock.update({ socketDir, port, database, user })
    return { path: lock.path, connection: { host: socketDir, port, database, user }, postgres, lock }
  } catch (error) {
    await lock.release()
    throw error
  }
}

const checkReachable = async (connection: pg.ClientConfig): Promise<void> => {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    await client.end()
  } catch (error) {
    const reason =
      error instanceof Error && error.message !== '' ? error.message : String((error as { code?: string }).code)
    throw new StartError(
      `The database of DATABASE_URL cannot be reached: ${reason}.`,
      'Check that it runs, and its host, port, user, password and database name.',
      { cause: error },
    )
  }
}

/** Where a process listens, and which variable says so. */
interface Place {
  port: number
  variable: 'PORT' | 'WORKER_PORT'
}

const placeOf = (role: Role, { port, workerPort }: Config): Place | undefined => {
  if (role !== 'worker') return { port, variable: 'PORT' }
  return workerPort === undefined ? undefined : { port: workerPort, variable: 'WORKER_PORT' }
}

/** Listens, and answers the URL by which a program on this machine reaches it. */
const listen = async (app: App, host: string, { port, variable }: Place): Promise<string> => {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') {
      throw new StartError(
        `Port ${port} on ${host} is in use by another program.`,
        variable === 'PORT'
          ? 'Stop it, or choose another port, for instance: PORT=3001 npm start'
          : 'Stop it, or choose another WORKER_PORT.',
      )
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new StartError(`Atrium may not listen on ${host}:${port} (${code}).`, `Choose another HOST or ${variable}.`)
    }
    throw error
  }
  const address = app.server.address()
  const taken = address !== null && typeof address === 'object' ? address.port : port
  // All addresses is none that a browser could open.
  const reachable = ({ '0.0.0.0': '127.0.0.1', '::': '::1' } as Record<string, string>)[host] ?? host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${taken}`
}

interface Running {
  home: DataHome
  opened: OpenedDeps
  app: App | undefined
  log: Log
  first: Bootstrapped
}

const start = async (config: Config, role: Role): Promise<Running> => {
  const step = createSteps()
  const log = createLog(config.logLevel)
  if (role !== 'api' && config.watchdogSeconds > 0) startWatchdog(config.watchdogSeconds, log)
  const home =
    config.databaseUrl === undefined
      ? await step(
          'embedded PostgreSQL',
          () => openEmbedded(config),
          ({ postgres }) => (postgres?.createdCluster ? 'created' : ''),
        )
      : await step('database', async () => {
          const connection = { connectionString: config.databaseUrl as string }
          await checkReachable(connection)
          return { path: await prepareDataDir(config.dataDir), connection, postgres: undefined, lock: undefined }
        })
  await step(
    'schema',
    () => migrate(home.connection),
    ({ applied }) => (applied.length === 0 ? 'up to date' : `${applied.length} migrations applied`),
  )
  const opened = await openDeps({ ...config, dataDir: home.path }, home.connection, log)
  const { db, jobs, objects } = opened.deps
  if (!(await db.hasTenantPolicies())) {
    log.warn(`row-level security is not in use: this database user may not act as the role ${tenantRole}`)
  }
  // With a directory of one's own nothing can be under way yet; shared ones are swept by a job, by age.
  if (home.lock) {
    await objects
      .removeUnfinished({ soleProcess: true })
      .catch((error: unknown) => log.warn({ err: error }, 'what cut-off uploads left is not removed'))
  }
  // Not by a worker: the way in is printed by whoever makes it, and a worker has no URL to print.
  const first: Bootstrapped =
    role === 'worker'
      ? { created: false }
      : await step(
          'first owner',
          () => bootstrap(db, config, home.path),
          ({ created }) => (created ? 'created' : 'already there'),
        )
  await step('jobs', async () => {
    registerJobs(opened.deps)
    await jobs.start({ work: role !== 'api' })
  })
  const build = role === 'worker' ? buildOperations : buildServer
  const app = placeOf(role, config) && (await step('routes', () => build(opened.deps)))
  return { home, opened, app, log, first }
}

/**
 * The way in, for the person at the terminal. The key and the link are shown this once. In production, where logs are
 * collected and read by others, they are in files that only the server's user can read, and their paths are shown.
 */
const wayIn = async (url: string, first: Bootstrapped, { environment, dataDir }: Config): Promise<string> => {
  const inFiles = environment === 'production'
  const link = first.signInPath === undefined ? undefined : url + first.signInPath
  const linkFile = join(dataDir, 'owner-sign-in-link')
  if (inFiles && link !== undefined) await writePrivately(linkFile, `${link}\n`)
  const way: [string, string | undefined][] = [
    ['API reference', `${url}/docs`],
    ["Owner's API key", inFiles ? first.apiKeyFile : first.apiKey],
    ['It is kept in', inFiles ? undefined : first.apiKeyFile],
    ['Sign in once at', inFiles ? undefined : link],
    ['Sign-in link', inFiles && link !== undefined ? linkFile : undefined],
  ]
  const lines = way
    .filter(([, value]) => value !== undefined)
    .map(([label, value]) => `  ${`${label}:`.padEnd(18)}${value}`)
  if (first.apiKey !== undefined) {
    const key = inFiles ? `$(cat ${first.apiKeyFile})` : first.apiKey
    lines.push('', `  Try it:  curl -H "Authorization: Bearer ${key}" ${url}/api/v1/me`)
  }
  return lines.join('\n')
}

const stopDeadlineMs = 25_000

const stop = async ({ home, opened, app, log }: Running): Promise<void> => {
  const { jobs } = opened.deps
  await stopGracefully({
    app,
    stopJobs: (options) => jobs.stop(options),
    close: () => opened.close(),
    deadlineMs: stopDeadlineMs,
    log,
  })
  await home.postgres?.stop()
  await home.lock?.release()
}

// Ctrl-C under npm comes twice within milliseconds: from the terminal, and passed on by npm.
const sameSignalMs = 1_000

/** Exit code after an exception that belongs to no unit of work: EX_SOFTWARE of sysexits.h. */
const brokenExitCode = 70

/**
 * Stops once, on the first signal; the second one does not wait. Exit code 0 when everything came to its end, 70 when an
 * unhandled exception left the process in an unknown state.
 */
const stopInOrder = (running: Running): void => {
  let stopping = false
  let signalledAt = 0
  const begin = (exitCode: number): void => {
    if (stopping) return
    stopping = true
    console.log('  … stopping: finishing what is under way')
    setTimeout(() => {
      running.log.error('stopping took too long; what was left is picked up at the next start')
      process.exit(1)
    }, stopDeadlineMs + 3_000).unref()
    stop(running).then(
      () => process.exit(exitCode),
      (error: unknown) => {
        running.log.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  const onSignal = (): void => {
    if (stopping && performance.now() - signalledAt < sameSignalMs) return
    if (stopping) process.exit(130)
    signalledAt = performance.now()
    begin(0)
  }
  guardProcess(running.log, () => begin(brokenExitCode))
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  running.home.postgres?.exited.then(
    () => {
      if (stopping) return
      console.error('Atrium stops: its PostgreSQL has ended. Everything acknowledged is on disk; start it again.')
      process.exit(1)
    },
    () => undefined,
  )
}

/** Starts Atrium in this process and prints the way to it. Throws a ConfigError or a StartError when it cannot. */
export const serve = async (role: Role, env: NodeJS.ProcessEnv): Promise<void> => {
  const began = performance.now()
  const config = readConfig(env)
  console.log(`Atrium is starting (${config.environment}${role === 'all' ? '' : `, ${role}`})`)
  // Until there is something to stop in order: what was begun is undone by the database, or done again at the next start.
  const leave = (): void => process.exit(143)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, leave)
  const running = await start(config, role)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, leave)
  stopInOrder(running)
  const { app, first, home } = running
  const place = placeOf(role, config)
  const listening = app && place ? listen(app, config.host, place) : Promise.resolve(undefined)
  const local = await listening.catch(async (error: unknown) => {
    await stop(running)
    throw error
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  if (role === 'worker' || local === undefined) {
    const health = local === undefined ? '' : `; its health: ${local}/healthz`
    console.log(`\nAtrium works on jobs after ${seconds} s${health}`)
    return
  }
  const url = config.baseUrl ?? local
  await home.lock?.update({ url })
  const way = await wayIn(url, first, { ...config, dataDir: home.path })
  console.log(`\nAtrium is ready after ${seconds} s: ${url}\n${way}`)
}

/** Tells the person at the terminal why it did not start. */
export const explainFailure = (error: unknown): void => {
  if (error instanceof ConfigError) {
    console.error('Atrium cannot start with this environment:')
    for (const mistake of error.mistakes) console.error(`  ✗ ${mistake}`)
  } else if (error instanceof StartError) {
    console.error(`✗ ${error.message}`)
    if (error.hint !== undefined) console.error(`  ${error.hint}`)
  } else console.error(error)
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { role: { type: 'string', default: 'all' } } })
  const role = (['api', 'worker', 'all'] as const).find((one) => one === values.role)
  try {
    if (role === undefined) throw new StartError('--role must be api, worker or all.')
    await serve(role, process.env)
  } catch (error) {
    explainFailure(error)
    process.exit(1)
  }
}
