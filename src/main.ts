import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { ConfigError } from './config/config.ts'
import type { Config } from './config/config.ts'
import { openDeps } from './deps.ts'
import type { OpenedDeps } from './deps.ts'
import { keepDirect } from './files/direct/direct.ts'
import { bootstrap, writePrivately } from './identity/bootstrap.ts'
import type { Bootstrapped } from './identity/bootstrap.ts'
import { openDataDir, prepareDataDir } from './platform/postgres/data-dir.ts'
import type { DataDir } from './platform/postgres/data-dir.ts'
import { startEmbeddedPostgres } from './platform/postgres/embedded-postgres.ts'
import type { EmbeddedPostgres } from './platform/postgres/embedded-postgres.ts'
import { checkRegistration, locationOf } from './platform/object-store/registration.ts'
import { stopGracefully } from './platform/http/server/graceful.ts'
import type { App } from './platform/http/http.ts'
import { createLog } from './platform/process/log.ts'
import type { Log } from './platform/process/log.ts'
import { requireReachable, requireSameDatabase } from './platform/database/connections/requirements.ts'
import { migrate } from './platform/database/migrate.ts'
import { keepPartitions } from './platform/database/partitions.ts'
import { StartError } from './platform/process/start-error.ts'
import { tenantRole } from './platform/database/tenant-role.ts'
import { plural } from './platform/text/plural.ts'
import { guardProcess } from './platform/process/units.ts'
import { startWatchdog } from './platform/process/watchdog.ts'
import { findMisspelled } from './config/misspelled.ts'
import { readConfig } from './read-config.ts'
import { buildOperations, buildServer } from './server.ts'
import { registerJobs } from './worker.ts'

/** What this process does: serve requests, run jobs, or both. */
export type ProcessRole = 'api' | 'worker' | 'all'

/** Prints each step of the start with its duration. */
const createSteps = (): (<T>(title: string, work: () => Promise<T>, detail?: (result: T) => string) => Promise<T>) => {
  return async (title, work, detail) => {
    const began = performance.now()
    const result = await work()
    const more = detail?.(result) ?? ''
    console.log(`  ✓ ${title}${more === '' ? '' : `: ${more}`} (${((performance.now() - began) / 1000).toFixed(2)} s)`)
    return result
  }
}

interface Storage {
  path: string
  connection: pg.ClientConfig
  /** Without a pooler, for migrations. */
  direct: pg.ClientConfig
  postgres: EmbeddedPostgres | undefined
  /** Only with the embedded database: processes that share an external database can also share the directory. */
  lock: DataDir | undefined
}

const openEmbedded = async (config: Config): Promise<Storage> => {
  const lock = await openDataDir(config.dataDir)
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: lock.path })
    const { socketDir, port, database, user } = postgres
    await lock.update({ socketDir, port, database, user })
    const connection = { host: socketDir, port, database, user }
    return { path: lock.path, connection, direct: connection, postgres, lock }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** The port that a process listens on, and the variable that configures it. */
interface ListenPort {
  port: number
  variable: 'PORT' | 'WORKER_PORT'
}

const portOf = (role: ProcessRole, { port, workerPort }: Config): ListenPort | undefined => {
  if (role !== 'worker') return { port, variable: 'PORT' }
  return workerPort === undefined ? undefined : { port: workerPort, variable: 'WORKER_PORT' }
}

/** Listens, and returns the URL for programs on this machine. */
const listen = async (app: App, host: string, { port, variable }: ListenPort): Promise<string> => {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') {
      throw new StartError(
        `Port ${port} on ${host} is in use by another program.`,
        variable === 'PORT'
          ? 'Stop that program or choose another port, for instance: PORT=3001 npm start'
          : 'Stop that program or choose another WORKER_PORT.',
      )
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new StartError(`Atrium cannot listen on ${host}:${port} (${code}).`, `Choose another HOST or ${variable}.`)
    }
    throw error
  }
  const address = app.server.address()
  const actualPort = address !== null && typeof address === 'object' ? address.port : port
  // Browsers cannot open a wildcard address.
  const reachable = ({ '0.0.0.0': '127.0.0.1', '::': '::1' } as Record<string, string>)[host] ?? host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${actualPort}`
}

interface Running {
  storage: Storage
  opened: OpenedDeps
  app: App | undefined
  log: Log
  first: Bootstrapped
  stopPartitions: () => void
}

const start = async (config: Config, role: ProcessRole): Promise<Running> => {
  const step = createSteps()
  const log = createLog(config.logLevel)
  if (role !== 'api' && config.watchdogSeconds > 0) startWatchdog(config.watchdogSeconds, log)
  const storage =
    config.databaseUrl === undefined
      ? await step(
          'embedded PostgreSQL',
          () => openEmbedded(config),
          ({ postgres }) => (postgres?.createdCluster ? 'created' : ''),
        )
      : await step('database', async () => {
          const connection = { connectionString: config.databaseUrl as string }
          await requireReachable(connection, 'DATABASE_URL')
          const { databaseDirectUrl } = config
          const direct = databaseDirectUrl === undefined ? connection : { connectionString: databaseDirectUrl }
          if (direct !== connection) {
            await requireReachable(direct, 'DATABASE_DIRECT_URL')
            await requireSameDatabase(connection, direct)
          }
          return {
            path: await prepareDataDir(config.dataDir),
            connection,
            direct,
            postgres: undefined,
            lock: undefined,
          }
        })
  await step(
    'schema',
    () => migrate(storage.direct),
    ({ applied }) => (applied.length === 0 ? 'up to date' : `${plural(applied.length, 'migration')} applied`),
  )
  const opened = await openDeps({ ...config, dataDir: storage.path }, storage.connection, log)
  const { db, jobs, objects, wakeups } = opened.deps
  const stopPartitions = await keepPartitions(db, log)
  if (!(await db.hasTenantPolicies())) {
    log.warn(`row-level security is not in use: the database user cannot use the role ${tenantRole}`)
  }
  await checkRegistration(db, { objects, location: locationOf({ ...config, dataDir: storage.path }) }, log)
  // With the lock, no upload can be running. A job cleans up shared directories by age.
  if (storage.lock) {
    await objects
      .removeUnfinished({ soleProcess: true, keep: (keys) => keepDirect(db, keys) })
      .catch((error: unknown) => log.warn({ err: error }, 'files of interrupted uploads could not be removed'))
  }
  // Not in a worker: the process that creates the owner prints the sign-in link, and a worker has no URL for it.
  const first: Bootstrapped =
    role === 'worker'
      ? { created: false }
      : await step(
          'first owner',
          () => bootstrap(db, config, storage.path),
          ({ created }) => (created ? 'created' : 'exists'),
        )
  await step('jobs', async () => {
    registerJobs(opened.deps)
    await jobs.start({ work: role !== 'api' })
    opened.deps.publisher.start()
    wakeups.start()
  })
  const build = role === 'worker' ? buildOperations : buildServer
  const app = portOf(role, config) && (await step('routes', () => build(opened.deps)))
  return { storage, opened, app, log, first, stopPartitions }
}

/**
 * Prints how to sign in. The API key and the link are printed only once. In production, where other people can read the
 * collected logs, they are written to files that only the server's user can read, and the paths are printed.
 */
const signInLines = async (url: string, first: Bootstrapped, { environment, dataDir }: Config): Promise<string> => {
  const inFiles = environment === 'production'
  const link = first.signInPath === undefined ? undefined : url + first.signInPath
  const linkFile = join(dataDir, 'owner-sign-in-link')
  if (inFiles && link !== undefined) await writePrivately(linkFile, `${link}\n`)
  const entries: [string, string | undefined][] = [
    ['API reference', `${url}/docs`],
    ["Owner's API key", inFiles ? first.apiKeyFile : first.apiKey],
    ['Stored in', inFiles ? undefined : first.apiKeyFile],
    ['One-time sign-in', inFiles ? undefined : link],
    ['Sign-in link', inFiles && link !== undefined ? linkFile : undefined],
  ]
  const lines = entries
    .filter(([, value]) => value !== undefined)
    .map(([label, value]) => `  ${`${label}:`.padEnd(18)}${value}`)
  if (first.apiKey !== undefined) {
    const key = inFiles ? `$(cat ${first.apiKeyFile})` : first.apiKey
    lines.push('', `  Try it:  curl -H "Authorization: Bearer ${key}" ${url}/api/v1/me`)
  }
  return lines.join('\n')
}

const stopDeadlineMs = 25_000

const stop = async ({ storage, opened, app, log, stopPartitions }: Running): Promise<void> => {
  stopPartitions()
  const { jobs } = opened.deps
  await stopGracefully({
    app,
    stopJobs: (options) => jobs.stop(options),
    close: () => opened.close(),
    deadlineMs: stopDeadlineMs,
    log,
  })
  await storage.postgres?.stop()
  await storage.lock?.release()
}

// With npm, Ctrl-C arrives twice within milliseconds: from the terminal and from npm.
const sameSignalMs = 1_000

/** Exit code after an exception outside of a unit of work: EX_SOFTWARE of sysexits.h. */
const crashExitCode = 70

/**
 * Stops gracefully on the first signal and immediately on the second. Exit code 0 after a graceful stop, 70 when an
 * unhandled exception left the process in an unknown state.
 */
const stopOnSignals = (running: Running): void => {
  let stopping = false
  let signalledAt = 0
  const begin = (exitCode: number): void => {
    if (stopping) return
    stopping = true
    console.log('  … stopping: waiting for running requests and jobs')
    setTimeout(() => {
      running.log.error('stopping took too long; unfinished work continues after the next start')
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
  guardProcess(running.log, () => begin(crashExitCode))
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  running.storage.postgres?.exited.then(
    () => {
      if (stopping) return
      console.error(
        'Atrium stops because its PostgreSQL has exited. All acknowledged changes are on disk. Start Atrium again.',
      )
      process.exit(1)
    },
    () => undefined,
  )
}

/** Starts Atrium in this process and prints its URL. Throws a ConfigError or a StartError. */
export const serve = async (role: ProcessRole, env: NodeJS.ProcessEnv): Promise<void> => {
  const began = performance.now()
  const config = readConfig(env)
  for (const { name, known } of findMisspelled(env)) {
    console.warn(`! ${name} is not a variable of Atrium and has no effect; a variable with a similar name is ${known}`)
  }
  console.log(`Atrium is starting (${config.environment}${role === 'all' ? '' : `, ${role}`})`)
  // During the start there is nothing to stop gracefully: the database rolls back or the next start continues.
  const exit = (): void => process.exit(143)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, exit)
  const running = await start(config, role)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, exit)
  stopOnSignals(running)
  const { app, first, storage } = running
  const port = portOf(role, config)
  const listening = app && port ? listen(app, config.host, port) : Promise.resolve(undefined)
  const local = await listening.catch(async (error: unknown) => {
    await stop(running)
    throw error
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  if (role === 'worker' || local === undefined) {
    const health = local === undefined ? '' : `; health: ${local}/healthz`
    console.log(`\nAtrium worker is ready after ${seconds} s${health}`)
    return
  }
  const url = config.baseUrl ?? local
  await storage.lock?.update({ url })
  const lines = await signInLines(url, first, { ...config, dataDir: storage.path })
  console.log(`\nAtrium is ready after ${seconds} s: ${url}\n${lines}`)
}

/** Prints why the start failed. */
export const explainFailure = (error: unknown): void => {
  if (error instanceof ConfigError) {
    console.error('Invalid environment:')
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
