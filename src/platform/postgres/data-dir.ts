import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryFileLock } from './file-lock.ts'
import type { FileLock } from './file-lock.ts'
import { StartError } from '../process/start-error.ts'

/** A command releases the directory when it is done, so a server that starts waits for it. */
export type Purpose = 'server' | 'command'

/** The connection to the PostgreSQL of the holder, for `pg`. */
export interface DatabaseAddress {
  socketDir: string
  port: number
  database: string
  user: string
}

/** The process that holds a data directory. `startedAt` is ISO 8601. The other fields are set during the start. */
export interface Running extends Partial<DatabaseAddress> {
  pid: number
  startedAt: string
  purpose: Purpose
  url?: string
}

export interface DataDir {
  /** The real path of the directory. */
  readonly path: string
  /** Sets what `findRunning` returns: the URL when listening, the database when it is running. */
  update(details: { url?: string } & Partial<DatabaseAddress>): Promise<void>
  /** Releases the directory, as the end of the process does. */
  release(): Promise<void>
}

const lockFile = (dir: string): string => join(dir, 'atrium.lock')
const recordFile = (dir: string): string => join(dir, 'running.json')

// How long a starting server waits for a command (`atrium org create …`).
const commandWaitMs = 30_000
const pollMs = 50

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  ENOENT: 'it does not exist and cannot be created',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'something in its path is not a directory',
  EEXIST: 'it is not a directory',
  EISDIR: 'a directory is in the way of a file',
  ELOOP: 'its symbolic links go round in a circle',
  ENAMETOOLONG: 'its name is too long',
}

const hints: Record<string, string> = {
  ENOSPC: 'Free some space, or point DATA_DIR to another disk.',
  EDQUOT: 'Free some space, or point DATA_DIR to another disk.',
}

/** The StartError of a failed system call in the data directory `dir`. */
export const cannotUse = async (dir: string, error: unknown): Promise<StartError> => {
  const { code = '', message, path = dir } = error as NodeJS.ErrnoException
  let reason = reasons[code] ?? message
  const uid = process.getuid?.()
  const found = code === 'EACCES' || code === 'EPERM' ? await firstExisting(path) : undefined
  if (found && uid !== undefined && found.uid !== uid) {
    reason += ` (${found.path} belongs to user ${found.uid}, Atrium runs as user ${uid})`
  }
  return new StartError(
    `Cannot use the data directory ${dir}: ${reason}.`,
    hints[code] ?? 'Make it writable for the user that runs Atrium, or point DATA_DIR elsewhere.',
    { cause: error },
  )
}

const firstExisting = async (path: string): Promise<{ path: string; uid: number } | undefined> => {
  const found = await stat(path).catch(() => undefined)
  if (found) return { path, uid: found.uid }
  return path === dirname(path) ? undefined : firstExisting(dirname(path))
}

// Permission bits do not show read-only mounts, quotas and full disks, so a block is written.
const checkWritable = async (dir: string): Promise<void> => {
  const probe = join(dir, `.probe-${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(probe, 'wx', 0o600)
    try {
      await file.writeFile(Buffer.alloc(4096))
      await file.sync()
    } finally {
      await file.close()
    }
  } finally {
    await rm(probe, { force: true })
  }
}

/**
 * Creates the data directory, private to its owner, and returns its real path. Does not lock it, for processes that share
 * it because they use an external database. Throws a StartError when it is not writable.
 */
export const prepareDataDir = async (dir: string): Promise<string> => {
  const wanted = resolve(dir)
  try {
    await mkdir(dirname(wanted), { recursive: true })
    // Only the directory itself is private: PostgreSQL, as another user under root, must be able to traverse its parents.
    await mkdir(wanted, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' || !(await stat(wanted)).isDirectory()) throw error
    })
    const path = await realpath(wanted)
    await checkWritable(path)
    return path
  } catch (error) {
    throw await cannotUse(wanted, error)
  }
}

const readRecord = async (dir: string): Promise<Running | undefined> => {
  try {
    return JSON.parse(await readFile(recordFile(dir), 'utf8')) as Running
  } catch {
    return undefined
  }
}

const writeRecord = async (dir: string, record: Running): Promise<void> => {
  const draft = `${recordFile(dir)}.new`
  await writeFile(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  await rename(draft, recordFile(dir))
}

const seemsAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

// A holder writes its record within milliseconds after locking. Until then the file may contain the record of a killed
// process, so a record without a running process is read again. (The process of a holder in another container is not
// visible; its record is right nevertheless.)
const holderOf = async (dir: string): Promise<Running | undefined> => {
  let record = await readRecord(dir)
  for (let tries = 0; tries < 5 && !(record && seemsAlive(record.pid)); tries += 1) {
    await sleep(pollMs)
    record = await readRecord(dir)
  }
  return record
}

const describe = ({ pid, startedAt, url }: Running): string =>
  ` (process ${pid}, since ${startedAt}${url === undefined ? '' : `, at ${url}`})`

const takeLock = async (dir: string): Promise<FileLock> => {
  const deadline = performance.now() + commandWaitMs
  for (;;) {
    const lock = tryFileLock(lockFile(dir))
    if (lock) return lock
    const holder = await holderOf(dir)
    if (holder && holder.purpose !== 'command') {
      throw new StartError(`Atrium is already running on ${dir}${describe(holder)}`)
    }
    // Without a record, the holder has just locked the directory, on a busy machine, or just released it.
    if (performance.now() > deadline) {
      throw new StartError(`An atrium command is still using ${dir}${holder ? describe(holder) : ''}`)
    }
    await sleep(pollMs)
  }
}

/**
 * Creates and locks the data directory for this process. Throws a StartError when it is not writable or locked by another
 * Atrium; exactly one of two concurrent starts gets it. After `kill -9` the lock is free.
 */
export const openDataDir = async (dir: string, purpose: Purpose = 'server'): Promise<DataDir> => {
  const path = await prepareDataDir(dir)
  let lock: FileLock | undefined
  let record: Running = { pid: process.pid, startedAt: new Date().toISOString(), purpose }
  try {
    lock = await takeLock(path)
    await writeRecord(path, record)
  } catch (error) {
    lock?.release()
    throw error instanceof StartError ? error : await cannotUse(path, error)
  }
  let mine: FileLock | undefined = lock
  return {
    path,
    update: async (details) => {
      if (!mine) return
      record = { ...record, ...details }
      await writeRecord(path, record)
    },
    release: async () => {
      if (!mine) return
      const lock = mine
      mine = undefined
      await rm(recordFile(path), { force: true })
      lock.release()
    },
  }
}

/** The running Atrium with this data directory, or undefined. Creates and changes nothing. */
export const findRunning = async (dir: string): Promise<Running | undefined> => {
  try {
    const path = await realpath(dir)
    await stat(lockFile(path))
    const lock = tryFileLock(lockFile(path), 0)
    if (!lock) return await holderOf(path)
    lock.release()
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error instanceof StartError ? error : await cannotUse(resolve(dir), error)
  }
}
