import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import type { DatabaseAddress } from './data-dir.ts'
import { commandAs } from './binaries.ts'
import type { PostgresUser, PostgresBinaries } from './binaries.ts'
import { StartError } from '../process/start-error.ts'

/** How a process ended. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A started postmaster. */
export interface Postmaster {
  child: ChildProcess
  exit: Promise<Exit>
  logFile: string
}

/** The binaries, cluster and socket of a server to start. */
export interface Launch {
  binaries: PostgresBinaries
  identity: PostgresUser
  /** The directory of the cluster (`data`) and the server's log. */
  home: string
  address: DatabaseAddress
  settings: Record<string, string>
  log: (line: string) => void
}

const run = promisify(execFile)

// For a small server on the same machine as its application.
const defaultSettings: Record<string, string> = {
  cluster_name: 'atrium',
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '60',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Replication is not used.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  shared_buffers: '128MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '64MB',
  random_page_cost: '1.1',
  huge_pages: 'off',
  jit: 'off',
  // Saves three processes; on a local disk, backends read as fast themselves.
  io_method: 'sync',
  // Parallel workers share memory in /dev/shm, of which a container has 64 MB.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // 'log' ranks above 'error': the application reports failed statements, and their text contains tenants' data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
}

/** The socket's file in its directory, by PostgreSQL's rule. */
export const socketFile = (dir: string, port: number): string => join(dir, `.s.PGSQL.${port}`)

const commandLine = ({ home, address, settings }: Launch): string[] => {
  const all = {
    ...defaultSettings,
    port: String(address.port),
    // A list: quoted, because a comma or a space may be part of the path.
    unix_socket_directories: `"${address.socketDir.replaceAll('"', '""')}"`,
    ...settings,
  }
  return ['-D', join(home, 'data'), ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

const spawnPostmaster = async (launch: Launch): Promise<Postmaster> => {
  const logFile = join(launch.home, 'postgres.log')
  // Keeps the log of this start and the one before, so that it does not grow without limit.
  await rename(logFile, `${logFile}.1`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  const log = await open(logFile, 'wx', 0o600)
  try {
    const command = await commandAs(launch.identity, 'INT', launch.binaries.postgres, commandLine(launch))
    const child = spawn(command.file, command.args, {
      ...command.options,
      // A file, not a pipe: when this process is killed, the server outlives it briefly and must be able to log.
      stdio: ['ignore', log.fd, log.fd],
      // Its own session, because Ctrl-C in the terminal must stop Atrium first, which then stops PostgreSQL.
      detached: true,
    })
    const exit = new Promise<Exit>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    // A rejection without a listener must not end the process.
    exit.catch(() => undefined)
    // The server must not keep this process alive.
    child.unref()
    return { child, exit, logFile }
  } finally {
    await log.close()
  }
}

const connectTo = async ({ socketDir, port, user }: DatabaseAddress, database: string): Promise<pg.Client> => {
  const client = new pg.Client({ host: socketDir, port, user, database, ssl: false })
  // When the connection breaks later, the exit of the server reports it.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

// Not part of creating the cluster, because a start can be killed in between.
const createDatabase = async (address: DatabaseAddress): Promise<void> => {
  const client = await connectTo(address, 'postgres')
  try {
    await client.query(`create database "${address.database}"`)
  } finally {
    await client.end()
  }
}

const invalidCatalogName = '3D000'
const cannotConnectNow = '57P03'

/** Resolves when the database accepts connections, or with the exit of the server. */
const untilReady = async ({ exit }: Postmaster, { address, log }: Launch): Promise<Exit | undefined> => {
  const ended = exit.catch((): Exit => ({ code: null, signal: null }))
  const started = performance.now()
  let nextWordMs = 5000
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    try {
      const client = await connectTo(address, address.database)
      await client.end()
      return undefined
    } catch (error) {
      // Other errors of the server are final; a missing listener is not.
      const code = error instanceof pg.DatabaseError ? error.code : cannotConnectNow
      if (code === invalidCatalogName) await createDatabase(address)
      else if (code !== cannotConnectNow) throw error
    }
    if (performance.now() - started > nextWordMs) {
      // After a crash, PostgreSQL replays its WAL first. Killing it would restart the recovery.
      log(`PostgreSQL is still starting after ${nextWordMs / 1000} s: it is recovering from a crash`)
      nextWordMs += 5000
    }
    const how = await Promise.race([ended, sleep(pauseMs, undefined)])
    if (how) return how
  }
}

/** Fast shutdown: open transactions are rolled back. Resolves when the server has exited. */
export const stopPostmaster = async ({ child, exit }: Postmaster): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  child.ref()
  child.kill('SIGINT')
  // It writes all dirty buffers first, which takes seconds on a slow disk. Otherwise the next start recovers.
  const impatient = setTimeout(() => child.kill('SIGQUIT'), 60_000)
  await exit.catch(() => undefined)
  clearTimeout(impatient)
}

const lastWords = async (logFile: string): Promise<string> => {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n')
  const fatal = lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? lines.at(-1) ?? ''
  return fatal.replace(/^.*?(FATAL|PANIC):\s*/, '').trim()
}

const whyNot = async ({ exit, logFile }: Postmaster): Promise<StartError> => {
  const spawnFailure = await exit.then(
    () => '',
    (error: Error) => error.message,
  )
  const reason = spawnFailure || (await lastWords(logFile)) || 'there is no log output'
  const hint = /no space left/i.test(reason) ? 'Free some space on the disk.' : `Its log is ${logFile}.`
  return new StartError(`PostgreSQL did not start: ${reason.replace(/\.$/, '')}.`, hint)
}

const linuxProcess = async (pid: number): Promise<{ zombie: boolean; command: string } | undefined> => {
  try {
    const [status, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // The name in parentheses can contain parentheses and spaces.
    return { zombie: status.slice(status.lastIndexOf(')') + 2).startsWith('Z'), command: command.replaceAll('\0', ' ') }
  } catch {
    return undefined
  }
}

const listedProcess = async (pid: number): Promise<{ zombie: boolean; command: string } | undefined> => {
  try {
    const { stdout } = await run('ps', ['-ww', '-o', 'stat=,command=', '-p', String(pid)])
    const [, state = '', command = ''] = /^\s*(\S+)\s+(.*)/.exec(stdout) ?? []
    return { zombie: state.startsWith('Z'), command }
  } catch {
    return undefined
  }
}

const findProcess = process.platform === 'linux' ? linuxProcess : listedProcess

const isPostmasterOf = async (pid: number, dir: string): Promise<boolean> => {
  const found = await findProcess(pid)
  return found !== undefined && !found.zombie && found.command.includes(`postgres -D ${dir} `)
}

/** Does nothing when the process has ended. */
const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const stopOrphan = async (pid: number, dir: string, log: (line: string) => void): Promise<void> => {
  log(`stopping a PostgreSQL whose Atrium was killed (process ${pid})`)
  // Fast, then immediate shutdown. Both keep committed transactions.
  for (const [signal, patienceMs] of [
    ['SIGINT', 30_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    send(pid, signal)
    const deadline = performance.now() + patienceMs
    while (performance.now() < deadline) {
      await sleep(20)
      if (!(await isPostmasterOf(pid, dir))) return
    }
  }
  throw new StartError(
    `A PostgreSQL left over from a killed Atrium (process ${pid}) does not stop.`,
    `Try: kill -9 ${pid}`,
  )
}

// Larger than any system's highest process id.
const nobodysPid = 2_147_483_647

/**
 * Prepares `dir` for a new postmaster. The caller holds the cluster's lock, so a running postmaster has lost its Atrium
 * and is stopped. A postmaster.pid whose process is dead, a zombie or another program is invalidated.
 */
const clearStalePostmaster = async (dir: string, log: (line: string) => void): Promise<void> => {
  const path = join(dir, 'postmaster.pid')
  const text = await readFile(path, 'utf8').catch(() => '')
  const digits = /^\d+/.exec(text)?.[0]
  if (digits === undefined) {
    // Incomplete because of a full disk or a power failure. A minus sign is a single-user PostgreSQL, which was started
    // by hand and is not stopped.
    if (!text.startsWith('-')) await rm(path, { force: true })
    return
  }
  if (await isPostmasterOf(Number(digits), dir)) {
    await stopOrphan(Number(digits), dir, log)
    return
  }
  // PostgreSQL treats every process with this number, even a zombie, as its own. Only the number is replaced, because
  // PostgreSQL uses the rest of the file to detect backends of a killed postmaster.
  await writeFile(path, text.replace(digits, String(nobodysPid)))
}

// Backends of a killed postmaster exit within moments. Until then, PostgreSQL does not start.
const backendsRemain = /pre-existing shared memory block/
const backendPatienceMs = 15_000

/**
 * Starts the server and resolves when its database accepts connections. The caller holds the lock of the cluster, so an
 * earlier server that is still running is stopped. Throws a StartError.
 */
export const launchPostmaster = async (launch: Launch): Promise<Postmaster> => {
  const socket = socketFile(launch.address.socketDir, launch.address.port)
  const deadline = performance.now() + backendPatienceMs
  for (;;) {
    await clearStalePostmaster(join(launch.home, 'data'), launch.log)
    await rm(socket, { force: true })
    await rm(`${socket}.lock`, { force: true })
    const postmaster = await spawnPostmaster(launch)
    let exit: Exit | undefined
    try {
      exit = await untilReady(postmaster, launch)
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
