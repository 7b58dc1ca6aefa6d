import { accessSync, chownSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from '../process/start-error.ts'

/** Locked until `release()` or the end of the process. */
export interface FileLock {
  release(): void
}

// A DatabaseSync that is garbage-collected closes its file and so drops the lock: this map keeps it.
const held = new Map<string, DatabaseSync>()

const sqliteBusy = 5

const createPrivately = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    // Files that root creates in the directory of another user must stay usable for that user.
    const { uid, gid } = statSync(dirname(path))
    if (process.getuid?.() === 0) chownSync(path, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  // SQLite opens a file without write permission read-only, and its exclusive transaction then locks nothing.
  accessSync(path, constants.W_OK)
}

/**
 * Locks the file at `path`, or returns undefined when it stays locked for longer than `waitMs`. The path must be a real
 * path without links.
 *
 * Node.js has no flock(); SQLite's exclusive transaction is an fcntl() record lock on the file. The kernel gives it to one
 * process and releases it when that process ends, also by `kill -9`: there are no stale locks, and it works between
 * containers that share a volume.
 */
export const tryFileLock = (path: string, waitMs = 300): FileLock | undefined => {
  // Closing any descriptor of a file drops all fcntl() locks that the process has on it, so a file that this process
  // has locked is not opened again.
  if (held.has(path)) return undefined
  createPrivately(path)
  // The wait is longer than the moment in which another process checks the lock.
  const file = new DatabaseSync(path, { timeout: waitMs })
  try {
    // A journal on disk would only leave a second file behind.
    file.exec('pragma journal_mode = memory')
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    const { errcode } = error as { errcode?: number }
    if (errcode !== undefined && (errcode & 0xff) === sqliteBusy) return undefined
    throw new StartError(
      `Cannot lock ${path}: ${(error as Error).message}.`,
      'The file system may not support locks: put DATA_DIR on a local disk.',
      { cause: error },
    )
  }
  held.set(path, file)
  return {
    release: () => {
      if (held.get(path) !== file) return
      held.delete(path)
      file.close()
    },
  }
}
