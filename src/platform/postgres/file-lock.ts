import { accessSync, chownSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from '../process/start-error.ts'

/** Held until `release()` or the end of the process, whichever way that comes. */
export interface FileLock {
  release(): void
}

// A DatabaseSync that is garbage-collected closes its file and so drops the lock: this map keeps it.
const held = new Map<string, DatabaseSync>()

const sqliteBusy = 5

const createPrivately = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    // What root makes in somebody's directory stays usable to its owner.
    const { uid, gid } = statSync(dirname(path))
    if (process.getuid?.() === 0) chownSync(path, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  // SQLite opens a file that it may not write read-only, and its exclusive transaction then locks nothing.
  accessSync(path, constants.W_OK)
}

/**
 * Takes the lock that the file at `path` stands for, or answers undefined when another holder keeps it for longer
 * than `waitMs`. The path must be a real one (no links), the same for everybody.
 *
 * Node has no flock(); SQLite's exclusive transaction is an fcntl() record lock on the file. The kernel gives it to
 * one process only, and takes it back when that process ends, `kill -9` included: no stale lock, no process id to
 * trust, and it holds between containers that share a volume.
 */
export const tryFileLock = (path: string, waitMs = 300): FileLock | undefined => {
  // Closing any descriptor of a file drops all fcntl() locks that the process has on it, so a file that this process
  // has locked is not opened again.
  if (held.has(path)) return undefined
  createPrivately(path)
  // The wait outlasts the moment in which somebody else only looks whether the lock is taken.
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
