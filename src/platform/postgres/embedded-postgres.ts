import { createHash } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cannotUse, findRunning, openDataDir } from './data-dir.ts'
import type { DatabaseAddress } from './data-dir.ts'
import { tryFileLock } from './file-lock.ts'
import type { FileLock } from './file-lock.ts'
import { chooseIdentity, findBinaries, keeperOf } from './binaries.ts'
import type { PostgresUser, PostgresBinaries } from './binaries.ts'
import { clusterVersion, createCluster, giveCluster, letThrough, removeDrafts } from './cluster.ts'
import { launchPostmaster, socketFile, stopPostmaster } from './process.ts'
import type { Exit, Postmaster } from './process.ts'
import { StartError } from '../process/start-error.ts'

export interface EmbeddedPostgresOptions {
  /** An existing, writable directory. All files are in its `postgres/`. */
  dataDir: string
  /** Progress messages for the operator, one line each. */
  log?: (line: string) => void
  /** Server settings that override the defaults. */
  settings?: Record<string, string>
}

export interface EmbeddedPostgres extends DatabaseAddress {
  readonly startedMs: number
  /** True at the first start of a data directory. */
  readonly createdCluster: boolean
  /** Fast shutdown: open transactions are rolled back. Resolves when the server has exited. */
  stop(): Promise<void>
  /** Resolves when the server exits without `stop()`. */
  readonly exited: Promise<Exit>
}

const names = { port: 5432, database: 'atrium', user: 'atrium' }

// sockaddr_un holds 108 bytes on Linux and 104 on macOS, the final zero included.
const longestSocketPath = process.platform === 'linux' ? 107 : 103

/** False when the directory exists. */
const makeDirectory = async (dir: string): Promise<boolean> => {
  try {
    await mkdir(dir, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

const makeShortDir = async (home: string, identity: PostgresUser): Promise<string> => {
  // On macOS, the temporary directory of a user has a path of 50 bytes; on some systems it is longer.
  const parent = Buffer.byteLength(tmpdir()) <= 64 ? tmpdir() : '/tmp'
  const dir = join(parent, `atrium-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`)
  await makeDirectory(dir)
  const found = await lstat(dir)
  const ours = found.uid === process.getuid?.() || found.uid === identity.uid
  // Every user can create this path in /tmp and listen on it.
  return found.isDirectory() && ours ? dir : mkdtemp(`${dir}-`)
}

/**
 * Creates the directory of the socket, which only PostgreSQL's user and root can enter, so that the server can trust every
 * connection. Below the data directory, or in the temporary directory when that path is too long.
 */
const makeSocketDir = async (home: string, identity: PostgresUser): Promise<string> => {
  let dir = join(home, 'run')
  if (Buffer.byteLength(socketFile(dir, names.port)) <= longestSocketPath) {
    await rm(dir, { recursive: true, force: true })
    await mkdir(dir, { mode: 0o700 })
  } else {
    dir = await makeShortDir(home, identity)
  }
  if (identity.kind === 'user') await lchown(dir, identity.uid, identity.gid)
  await chmod(dir, 0o700)
  return dir
}

const checkVersion = (dir: string, found: string, ours: string): void => {
  if (found === ours) return
  throw new StartError(
    `The database in ${dir} was created by PostgreSQL ${found}; this Atrium has PostgreSQL ${ours}.`,
    'Nothing was changed. Start the Atrium that created it, or move the data with pg_dump to your own server.',
  )
}

const checkOwner = (dir: string, owner: number): void => {
  const uid = process.getuid?.()
  if (uid === 0 || owner === uid) return
  throw new StartError(
    `The database in ${dir} belongs to user ${owner}; Atrium runs as user ${uid}.`,
    'Run Atrium as that user, or give the whole data directory to this one (chown -R).',
  )
}

/** Creates the cluster if there is none, and gives it to the user that PostgreSQL runs as. */
const prepare = async (
  dataDir: string,
  home: string,
  log: (line: string) => void,
): Promise<{ binaries: PostgresBinaries; identity: PostgresUser; createdCluster: boolean }> => {
  const dir = join(home, 'data')
  const version = await clusterVersion(dir)
  const owner = version === undefined ? undefined : await stat(dir)
  if (owner) checkOwner(dir, owner.uid)
  const binaries = await findBinaries()
  const keeper = keeperOf(owner, await stat(dataDir))
  const { identity, major } = await chooseIdentity(binaries, join(dataDir, '..'), keeper)
  if (version !== undefined) checkVersion(dir, version, major)
  if (identity.kind === 'user') {
    await letThrough(dataDir, identity)
    await letThrough(home, identity)
  }
  await removeDrafts(home)
  if (owner) {
    if (owner.uid !== identity.uid) await giveCluster(dir, identity)
    return { binaries, identity, createdCluster: false }
  }
  const started = performance.now()
  await createCluster(binaries, identity, home, names.user)
  log(`database created in ${dir} (${Math.round(performance.now() - started)} ms)`)
  return { binaries, identity, createdCluster: true }
}

const makeHome = async (dataDir: string, home: string): Promise<void> => {
  if (!(await makeDirectory(home))) return
  const { uid, gid } = await stat(dataDir)
  // Files that root creates in the data directory of another user must stay usable for that user.
  if (process.getuid?.() === 0) await lchown(home, uid, gid)
}

const lockCluster = async (dataDir: string, home: string): Promise<FileLock> => {
  await makeHome(dataDir, home)
  const lock = tryFileLock(join(home, 'lock'))
  if (lock) return lock
  const running = await findRunning(dataDir)
  const who = running ? ` (process ${running.pid})` : ''
  throw new StartError(`The database in ${home} is in use by another Atrium${who}.`)
}

const asRunning = (
  postmaster: Postmaster,
  lock: FileLock,
  about: Pick<EmbeddedPostgres, 'socketDir' | 'startedMs' | 'createdCluster'>,
): EmbeddedPostgres => {
  // Where the system sends no signal at the death of the parent, this covers every exit except kill -9.
  const stopWithUs = (): void => void postmaster.child.kill('SIGINT')
  process.once('exit', stopWithUs)
  let asked = false
  const gone = postmaster.exit.finally(() => {
    process.removeListener('exit', stopWithUs)
    lock.release()
  })
  return {
    ...names,
    ...about,
    exited: gone.then((how) => (asked ? new Promise<never>(() => undefined) : how)),
    stop: async () => {
      asked = true
      await stopPostmaster(postmaster)
      await gone
    },
  }
}

/**
 * Starts the embedded PostgreSQL of a data directory on a Unix socket, and creates its cluster at the first start. Stops
 * servers that `kill -9` left behind, but never the server of a running Atrium. On Linux, the server shuts down cleanly
 * when this process is killed. Throws a StartError.
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
    const address = { ...names, socketDir }
    const settings = options.settings ?? {}
    const postmaster = await launchPostmaster({ binaries, identity, home, address, settings, log })
    const startedMs = Math.round(performance.now() - started)
    return asRunning(postmaster, lock, { socketDir, startedMs, createdCluster })
  } catch (error) {
    lock?.release()
    if (error instanceof StartError) throw error
    if ((error as NodeJS.ErrnoException).path !== undefined) throw await cannotUse(options.dataDir, error)
    throw new StartError(`PostgreSQL did not start: ${(error as Error).message}.`, undefined, { cause: error })
  }
}

const openForCommand = async (dir: string): Promise<Awaited<ReturnType<typeof openDataDir>> | undefined> => {
  try {
    return await openDataDir(dir, 'command')
  } catch (error) {
    // Another process has created the database.
    if (await findRunning(dir)) return undefined
    throw error
  }
}

/**
 * The database of a data directory for one command: that of the running server, or one that is started and locks the
 * directory until `stop()`. Throws a StartError.
 */
export const borrowEmbeddedPostgres = async (
  options: EmbeddedPostgresOptions,
): Promise<DatabaseAddress & { stop(): Promise<void> }> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const running = await findRunning(options.dataDir)
    if (running?.purpose === 'server' && running.socketDir !== undefined) {
      return { ...names, socketDir: running.socketDir, stop: async () => undefined }
    }
    const dataDir = running ? undefined : await openForCommand(options.dataDir)
    if (dataDir) {
      try {
        const postgres = await startEmbeddedPostgres({ ...options, dataDir: dataDir.path })
        const stop = async (): Promise<void> => {
          await postgres.stop()
          await dataDir.release()
        }
        return { ...postgres, stop }
      } catch (error) {
        await dataDir.release()
        throw error
      }
    }
    if (performance.now() > deadline) {
      throw new StartError(
        `Atrium (process ${running?.pid ?? 'unknown'}) has ${options.dataDir}, but its database does not start.`,
      )
    }
    await sleep(100)
  }
}
