// Programs of Debian packages, started on loopback as child processes.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The directory of the programs of the newest PostgreSQL server package that has `pg_basebackup`. */
export const postgresPrograms = async (): Promise<string | undefined> => {
  const root = '/usr/lib/postgresql'
  const versions = (await readdir(root).catch(() => [])).toSorted((a, b) => Number(b) - Number(a))
  for (const version of versions) {
    const folder = join(root, version, 'bin')
    const found = await Promise.all(['postgres', 'pg_basebackup', 'initdb'].map((name) => exists(join(folder, name))))
    if (found.every(Boolean)) return folder
  }
  return undefined
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

// PostgreSQL and PgBouncer refuse to run as root. The package of PostgreSQL creates this user.
const account = 'postgres'
const asAccount =
  process.getuid?.() === 0 ? [`--reuid=${account}`, `--regid=${account}`, '--clear-groups'] : ([] as string[])

/** Lets the account of `runAs` write to a directory. */
export const giveToAccount = async (path: string): Promise<void> => {
  if (asAccount.length > 0) await run('chown', [`${account}:${account}`, path])
}

/** Runs a command to its end, as an account that is not root. */
export const runUnprivileged = async (program: string, ...args: string[]): Promise<void> => {
  await run('setpriv', [...asAccount, '--', program, ...args], { cwd: '/', env: { PATH: '/usr/bin:/bin' } })
}

export interface Daemon {
  child: ChildProcess
  /** Sends SIGKILL and resolves when it has ended. */
  kill(): Promise<void>
}

/** Starts a daemon in the foreground, as an account that is not root. The kernel ends it with this process, so that a killed test run leaves none behind. */
export const startDaemon = (command: string[], { logFile }: { logFile: string }): Daemon => {
  const log = openSync(logFile, 'a')
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...asAccount, '--', ...command], {
    stdio: ['ignore', log, log],
    cwd: '/',
  })
  closeSync(log)
  return {
    child,
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}
