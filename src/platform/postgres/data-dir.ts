import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryFileLock } from './file-lock.ts'
import type { FileLock } from './file-lock.ts'
import { StartError } from '../process/start-error.ts'

/** A server stays; a command gives the directory back when it is done, so a server that starts waits for it. */
export type Purpose = 'server' | 'command'

/** Where the holder's PostgreSQL listens, for `pg`. */
export interface DatabaseAddress {
  socketDir: string
  port: number
  database: string
  user: string
}

/** Who holds a data directory. `startedAt` is ISO 8601; the rest appears as the start gets there. */
export interface Running extends Partial<DatabaseAddress> {
  pid: number
  startedAt: string
  purpose: Purpose
  url?: string
}

export interface DataDir {
  /** The directory's real path. */
  readonly path: string
  /** Tells others what `findRunning` answers: the URL once listening, the database once it is up. */
  update(details: { url?: string } & Partial<DatabaseAddress>): Promise<void>
  /** Gives the directory back; the end of the process does so too. */
  release(): Promise<void>
}

const lockFile = (dir: string): string => join(dir, 'atrium.lock')
const recordFile = (dir: string): string => join(dir, 'running.json')

// How long a server that starts waits for a command (`atrium org create …`) to finish.
const commandWaitMs = 30_000
const pollMs = 50

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  ENOENT: 'it does not exist and cannot be made',
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

/** What a failed system call in the data directory `dir` means to the person who started Atrium. */
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

// Permission bits do not tell about read-only mounts, quotas and full disks; writing a block does.
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
 * Makes the data directory, private to its owner, and answers its real path. Takes no lock: for processes that share
 * it on purpose, because their database is elsewhere. Throws a StartError when it cannot be written to.
 */
export const prepareDataDir = async (dir: string): Promise<string> => {
  const wanted = resolve(dir)
  try {
    await mkdir(dirname(wanted), { recursive: true })
    // Only the directory itself is private: PostgreSQL, under another user when we are root, must get through the rest.
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

// A holder writes its record within milliseconds of taking the lock. Until then the file may still tell of one that
// was killed, so a record whose process is gone gets a second look. (A holder in another container stays invisible:
// then the record is right although its process cannot be seen.)
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
    if (holder?.purpose !== 'command') {
      throw new StartError(`Atrium is already running on ${dir}${holder ? describe(holder) : ''}`)
    }
    if (performance.now() > deadline) {
      throw new StartError(`An atrium command is still using ${dir}${describe(holder)}`)
    }
    await sleep(pollMs)
  }
}

/**
 * Makes the data directory and takes it for this process alone. Throws a StartError when it cannot be written to, or
 * when a live Atrium has it; of two starts at the same instant exactly one gets it. Nothing has to be cleaned up
 * after `kill -9`.
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

/** The live Atrium that has this data directory, or undefined. Never disturbs it, never creates anything. */
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
