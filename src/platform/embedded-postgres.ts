import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { cannotUse, findRunning, openDataDir } from './data-dir.ts'
import type { DatabaseAddress, DataDir } from './data-dir.ts'
import { tryFileLock } from './file-lock.ts'
import type { FileLock } from './file-lock.ts'
import { chooseIdentity, commandAs, findBinaries } from './postgres-binaries.ts'
import type { Identity, PostgresBinaries } from './postgres-binaries.ts'
import {
  clearStalePostmaster,
  clusterVersion,
  createCluster,
  giveCluster,
  letThrough,
  removeDrafts,
} from './postgres-cluster.ts'
import { StartError } from './start-error.ts'

export interface EmbeddedPostgresOptions {
  /** An existing directory that this user may write to; everything goes below its `postgres/`. */
  dataDir: string
  /** What a person watching the start wants to know, a line at a time. */
  log?: (line: string) => void
  /** Server settings, over the defaults here. */
  settings?: Record<string, string>
}

export interface EmbeddedPostgres extends DatabaseAddress {
  /** Directory of the Unix socket, for `pg` as `host`. There is no TCP port; `port` only names the socket's file. */
  readonly socketDir: string
  readonly startedMs: number
  /** True on the very first start of this data directory. */
  readonly createdCluster: boolean
  /** Fast shutdown: open transactions are rolled back. Resolves when the server is gone. */
  stop(): Promise<void>
  /** Resolves when the server ends without having been asked to. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

type Exit = { code: number | null; signal: NodeJS.Signals | null }

const user = 'atrium'
const database = 'atrium'
const port = 5432

// sockaddr_un holds 108 bytes on Linux and 104 on macOS, the final zero included.
const longestSocketPath = process.platform === 'linux' ? 107 : 103

// Tuned for one small server with its application on the same machine.
const defaultSettings: Record<string, string> = {
  cluster_name: 'atrium',
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '60',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Nothing replicates from here.
  wal_level: 'minimal',
  max_wal_senders: '0',
  shared_buffers: '128MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '64MB',
  random_page_cost: '1.1',
  huge_pages: 'off',
  jit: 'off',
  // Three I/O workers would take 10 MB to do what a backend does itself on a local disk.
  io_method: 'sync',
  // Parallel workers share memory in /dev/shm, of which a container has 64 MB.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // 'log' ranks above 'error': failed statements are the application's to report, and they quote tenants' data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
}

const socketPath = (dir: string): string => join(dir, `.s.PGSQL.${port}`)

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

const makePrivate = async (dir: string, identity: Identity): Promise<void> => {
  await mkdir(dir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(dir)
  const ours = found.uid === process.getuid?.() || found.uid === identity.uid
  if (!found.isDirectory() || !ours) throw new StartError(`${dir} is in the way: it is not a directory of ours.`)
  if (found.uid !== identity.uid) await lchown(dir, identity.uid, identity.gid)
  await chmod(dir, 0o700)
}

/**
 * Makes the directory of the socket, which nobody but PostgreSQL's user (and root) can enter: that is what lets the
 * server trust every connection. Below the data directory, or in the temporary one when that path is too long.
 */
const makeSocketDir = async (home: string, identity: Identity): Promise<string> => {
  const near = join(home, 'run')
  if (Buffer.byteLength(socketPath(near)) <= longestSocketPath) {
    await makePrivate(near, identity)
    return near
  }
  const temporary = Buffer.byteLength(tmpdir()) <= 64 ? tmpdir() : '/tmp'
  const name = `atrium-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`
  const short = join(await realpath(temporary), name)
  try {
    await makePrivate(short, identity)
    return short
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    // Somebody else took the name, in a directory where everybody may create some.
    const other = `${short}-${randomBytes(6).toString('hex')}`
    await makePrivate(other, identity)
    return other
  }
}

const commandLine = (dir: string, socketDir: string, settings: Record<string, string>): string[] => {
  const all = {
    ...defaultSettings,
    port: String(port),
    // A list: quoted, because a comma or a space may be part of the path.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    ...settings,
  }
  return ['-D', dir, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** A postmaster that was started, and what became of it. */
interface Postmaster {
  child: ChildProcess
  exit: Promise<Exit>
  logFile: string
}

const spawnPostmaster = async (
  binaries: PostgresBinaries,
  identity: Identity,
  home: string,
  args: string[],
): Promise<Postmaster> => {
  const logFile = join(home, 'postgres.log')
  // One start's log and the one before: it cannot grow for ever, and the last crash stays readable.
  await rename(logFile, `${logFile}.1`).catch((error) => {
    if (!isMissing(error)) throw error
  })
  const log = await open(logFile, 'w', 0o600)
  try {
    const command = await commandAs(identity, 'INT', binaries.postgres, args)
    const child = spawn(command.file, command.args, {
      ...command.options,
      // A file, not a pipe: the server outlives us for a moment when we are killed, and has to say why it ends.
      stdio: ['ignore', log.fd, log.fd],
      // Its own session: Ctrl-C in the terminal must stop Atrium, which then stops PostgreSQL, in this order.
      detached: true,
    })
    const exit = new Promise<Exit>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    // Whoever awaits it gets the failure; a start that fails elsewhere first must not end in an unhandled rejection.
    exit.catch(() => undefined)
    // The server alone must not keep a process alive that forgot to stop it.
    child.unref()
    return { child, exit, logFile }
  } finally {
    await log.close()
  }
}

const lastWords = async (logFile: string): Promise<string> => {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n')
  const fatal = lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? lines.at(-1) ?? ''
  return fatal.replace(/^.*?(FATAL|PANIC):\s*/, '').trim()
}

const connectTo = async (socketDir: string, name: string): Promise<pg.Client> => {
  const client = new pg.Client({ host: socketDir, port, user, database: name, ssl: false, password: '' })
  // A server that goes away meanwhile is told by its exit.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

// A start may be killed between making the cluster and making the database in it.
const createDatabase = async (socketDir: string): Promise<void> => {
  const client = await connectTo(socketDir, 'postgres')
  await client.query(`create database ${database}`).finally(() => client.end())
}

const invalidCatalogName = '3D000'
const cannotConnectNow = '57P03'
const notListening = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', cannotConnectNow])

/** Resolves when the database answers, or as soon as the server has ended, with how. */
const untilReady = async (
  postmaster: Postmaster,
  socketDir: string,
  log: (line: string) => void,
): Promise<Exit | undefined> => {
  let ended: Exit | undefined
  postmaster.exit.then(
    (exit) => (ended = exit),
    () => (ended = { code: null, signal: null }),
  )
  const started = performance.now()
  let nextWordMs = 5000
  for (let pauseMs = 2; ended === undefined; pauseMs = Math.min(pauseMs * 2, 50)) {
    try {
      const client = await connectTo(socketDir, database)
      await client.end()
      return undefined
    } catch (error) {
      const code = (error as { code?: string }).code ?? ''
      if (code === invalidCatalogName) await createDatabase(socketDir)
      else if (!notListening.has(code) && !/terminated/i.test((error as Error).message)) throw error
    }
    if (performance.now() - started > nextWordMs) {
      // After a crash the server replays its log first; that takes as long as it takes, and killing it starts over.
      log(`PostgreSQL is recovering, ${Math.round(nextWordMs / 1000)} s so far`)
      nextWordMs += 5000
    }
    await sleep(pauseMs)
  }
  return ended
}

const stopPostmaster = async ({ child, exit }: Postmaster): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  child.ref()
  child.kill('SIGINT')
  // A checkpoint of all shared buffers is part of it; on a slow disk that takes seconds.
  const impatient = setTimeout(() => child.kill('SIGQUIT'), 60_000)
  await exit.catch(() => undefined)
  clearTimeout(impatient)
}

const whyNot = async ({ exit, logFile }: Postmaster): Promise<StartError> => {
  const spawnFailure = await exit.then(
    () => '',
    (error: Error) => error.message,
  )
  const reason = spawnFailure || (await lastWords(logFile)) || 'it said nothing'
  const hint = /no space left/i.test(reason) ? 'Free some space on the disk.' : `Its log is ${logFile}.`
  return new StartError(`PostgreSQL did not start: ${reason.replace(/\.$/, '')}.`, hint)
}

// Backends notice within moments that their postmaster was killed; until then PostgreSQL refuses to start anew.
const backendsRemain = /pre-existing shared memory block/
const backendPatienceMs = 15_000

const launch = async (
  binaries: PostgresBinaries,
  identity: Identity,
  home: string,
  socketDir: string,
  settings: Record<string, string>,
  log: (line: string) => void,
): Promise<Postmaster> => {
  const dir = join(home, 'data')
  const deadline = performance.now() + backendPatienceMs
  for (;;) {
    await clearStalePostmaster(dir, log)
    // The lock on the cluster is ours, so whatever is left here is nobody's.
    await rm(socketPath(socketDir), { force: true })
    await rm(`${socketPath(socketDir)}.lock`, { force: true })
    const postmaster = await spawnPostmaster(binaries, identity, home, commandLine(dir, socketDir, settings))
    let exit: Exit | undefined
    try {
      exit = await untilReady(postmaster, socketDir, log)
    } catch (error) {
      await stopPostmaster(postmaster)
      throw error
    }
    if (exit === undefined) return postmaster
    const failure = await whyNot(postmaster)
    if (!backendsRemain.test(failure.message) || performance.now() > deadline) throw failure
    await sleep(50)
  }
}

/** Makes the cluster if there is none, and sees to it that it belongs to whom PostgreSQL runs as. */
const prepare = async (
  dataDir: string,
  home: string,
  log: (line: string) => void,
): Promise<{ binaries: PostgresBinaries; identity: Identity; createdCluster: boolean }> => {
  const dir = join(home, 'data')
  const found = await clusterVersion(dir)
  const owner = found === undefined ? undefined : await stat(dir)
  const binaries = await findBinaries()
  const { identity, major } = await chooseIdentity(binaries, join(dataDir, '..'), owner)
  if (found !== undefined && found !== String(major)) {
    throw new StartError(
      `The database in ${dir} was made by PostgreSQL ${found}; this Atrium brings PostgreSQL ${major}.`,
      'Nothing was changed. Start the Atrium that made it, or move its data with pg_dump to a server of your own.',
    )
  }
  if (identity.kind === 'user') {
    await letThrough(dataDir, identity)
    await letThrough(home, identity)
  }
  await removeDrafts(home)
  if (owner === undefined) {
    const started = performance.now()
    await createCluster(binaries, identity, home, user)
    log(`database created in ${dir} (${Math.round(performance.now() - started)} ms)`)
  } else if (owner.uid !== identity.uid) {
    if (process.getuid?.() !== 0) {
      throw new StartError(
        `The database in ${dir} belongs to user ${owner.uid}; Atrium runs as user ${identity.uid}.`,
        'Run Atrium as that user, or give the whole data directory to this one (chown -R).',
      )
    }
    await giveCluster(dir, identity)
  }
  return { binaries, identity, createdCluster: owner === undefined }
}

const lockCluster = async (dataDir: string, home: string): Promise<FileLock> => {
  await mkdir(home, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const lock = tryFileLock(join(home, 'lock'))
  if (lock) return lock
  const { pid } = (await findRunning(dataDir)) ?? {}
  throw new StartError(
    `The database in ${home} is in use by another Atrium${pid === undefined ? '' : ` (process ${pid})`}.`,
  )
}

/**
 * Starts the embedded PostgreSQL of a data directory, on a Unix socket alone, and makes its cluster on the first
 * start. Whatever `kill -9` left behind is dealt with; a server of another live Atrium is never touched. On Linux it
 * shuts down cleanly when this process is killed. Throws a StartError that a person can act on.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const started = performance.now()
  const log = options.log ?? (() => undefined)
  let lock: FileLock | undefined
  try {
    const dataDir = await realpath(options.dataDir)
    const home = join(dataDir, 'postgres')
    lock = await lockCluster(dataDir, home)
    const { binaries, identity, createdCluster } = await prepare(dataDir, home, log)
    const socketDir = await makeSocketDir(home, identity)
    const postmaster = await launch(binaries, identity, home, socketDir, options.settings ?? {}, log)
    const startedMs = Math.round(performance.now() - started)
    return runningPostgres(postmaster, lock, { socketDir, startedMs, createdCluster })
  } catch (error) {
    lock?.release()
    const failed = error instanceof StartError || (error as NodeJS.ErrnoException).syscall === undefined
    throw failed ? error : await cannotUse(options.dataDir, error)
  }
}

const runningPostgres = (
  postmaster: Postmaster,
  lock: FileLock,
  about: { socketDir: string; startedMs: number; createdCluster: boolean },
): EmbeddedPostgres => {
  const { child, exit } = postmaster
  // Where there is no signal on the parent's death, this still covers every end but kill -9.
  const stopWithUs = (): boolean => child.kill('SIGINT')
  process.once('exit', stopWithUs)
  let asked = false
  const gone = exit.finally(() => {
    process.removeListener('exit', stopWithUs)
    lock.release()
  })
  return {
    ...about,
    port,
    database,
    user,
    exited: new Promise((resolve) => {
      gone.then((how) => {
        if (!asked) resolve(how)
      })
    }),
    stop: async () => {
      asked = true
      await stopPostmaster(postmaster)
      await gone
      // Empty now; below the data directory it stays.
      if (!about.socketDir.endsWith('/postgres/run')) await rm(about.socketDir, { recursive: true, force: true })
    },
  }
}

/**
 * The database of a data directory for the length of one command: the running server's, or else one that is started
 * here and holds the directory until `stop()`. Throws a StartError.
 */
export const borrowEmbeddedPostgres = async (
  options: EmbeddedPostgresOptions,
): Promise<DatabaseAddress & { stop(): Promise<void> }> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const running = await findRunning(options.dataDir)
    if (running === undefined) {
      const dataDir = await openDataDir(options.dataDir, 'command').catch(retryUnlessRunning)
      if (dataDir) return startUnder(dataDir, options)
    } else if (running.socketDir !== undefined && running.purpose === 'server') {
      return { socketDir: running.socketDir, port, database, user, stop: async () => undefined }
    }
    if (performance.now() > deadline) {
      throw new StartError(`Another Atrium (process ${running?.pid}) has ${options.dataDir} but no database yet.`)
    }
    await sleep(100)
  }
}
