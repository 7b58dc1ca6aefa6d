// A process that locks a data directory and starts its PostgreSQL like Atrium. Tests kill it, start several at once and
// run it as another user.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openDataDir } from '../../src/platform/postgres/data-dir.ts'
import type { Purpose } from '../../src/platform/postgres/data-dir.ts'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { StartError } from '../../src/platform/process/start-error.ts'

export interface HolderOptions {
  dir: string
  /** Locks the directory without starting PostgreSQL. */
  dirOnly?: boolean
  /** Drops all references to the lock and collects garbage before it reports that it is ready. */
  forgetful?: boolean
  purpose?: Purpose
  /** Waits for `holder.go()` before it opens anything. */
  wait?: boolean
  settings?: Record<string, string>
}

/** The outcome of a holder process. */
export type Outcome =
  | { ready: true; socketDir: string; createdCluster: boolean; startedMs: number; lines: string[] }
  | { ready: false; name: string; message: string; hint: string | undefined }

export interface Holder {
  child: ChildProcess
  pid: number
  outcome: Promise<Outcome>
  go(): void
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

export const isRoot = process.getuid?.() === 0
// The user `nobody` on Linux; any user other than root works.
const ordinary = { uid: 65_534, gid: 65_534 }

const started = new Set<ChildProcess>()
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** Starts this file as a process, as an ordinary user if `ordinaryUser` is set and the tests run as root. */
export const startHolder = (options: HolderOptions, { ordinaryUser = false } = {}): Holder => {
  const line = [process.execPath, '--expose-gc', fileURLToPath(import.meta.url), JSON.stringify(options)]
  const child = spawn(line[0]!, line.slice(1), {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(ordinaryUser && isRoot ? ordinary : {}),
  })
  started.add(child)
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
  const outcome = new Promise<Outcome>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (text) => resolve(JSON.parse(text) as Outcome))
    ended.then((code) => reject(new Error(`the holder ended with code ${code} and said nothing`)), reject)
  })
  outcome.catch(() => undefined)
  return {
    child,
    pid: child.pid!,
    outcome,
    go: () => void child.stdin.write('go\n'),
    stop: async () => {
      child.kill('SIGTERM')
      return ended
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Starts a holder and fails when it does not become ready. */
export const startReady = async (
  options: HolderOptions,
  how: { ordinaryUser?: boolean } = {},
): Promise<Holder & { socketDir: string; createdCluster: boolean }> => {
  const holder = startHolder(options, how)
  const outcome = await holder.outcome
  if (!outcome.ready) throw new Error(outcome.message)
  return { ...holder, socketDir: outcome.socketDir, createdCluster: outcome.createdCluster }
}

/** A directory that is removed after the tests. Ordinary users can enter it and, on request, own it. */
export const temporaryDir = async (name: string, { ordinaryUser = false } = {}): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), `atrium-${name}-`))
  await chmod(dir, 0o755)
  if (ordinaryUser && isRoot) await chown(dir, ordinary.uid, ordinary.gid)
  after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** Skips the test and lists it in the summary of the run. */
export const leaveOut = (t: TestContext, why: string): false => {
  t.diagnostic(`left out: ${t.name} (${why})`)
  t.skip(why)
  return false
}

/** True when the tests can run as an ordinary user; otherwise skips the test. */
export const canBeOrdinary = async (t: TestContext): Promise<boolean> => {
  if (!isRoot) return true
  const probe = spawn(process.execPath, ['-p', '1'], { ...ordinary, stdio: 'ignore' })
  const [code] = (await Promise.race([once(probe, 'exit'), once(probe, 'error')])) as [unknown]
  return code === 0 || leaveOut(t, 'an ordinary user cannot reach this checkout')
}

/** True when the tests run as root; otherwise skips the test. */
export const mustBeRoot = (t: TestContext): boolean => isRoot || leaveOut(t, 'only root can try this')

/** One connection, closed when `work` is done. */
export const withClient = async <T>(socketDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ host: socketDir, port: 5432, user: 'atrium', database: 'atrium' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

const open = async (options: HolderOptions): Promise<{ outcome: Outcome; stop: () => Promise<void> }> => {
  const lines: string[] = []
  const dataDir = await openDataDir(options.dir, options.purpose)
  if (options.dirOnly) {
    const outcome: Outcome = { ready: true, socketDir: '', createdCluster: false, startedMs: 0, lines }
    return { outcome, stop: () => dataDir.release() }
  }
  const postgres = await startEmbeddedPostgres({
    dataDir: dataDir.path,
    log: (line) => void lines.push(line),
    settings: options.settings ?? {},
  })
  const { socketDir, createdCluster, startedMs } = postgres
  await dataDir.update({ url: 'http://127.0.0.1:3000', socketDir })
  return {
    outcome: { ready: true, socketDir, createdCluster, startedMs, lines },
    stop: async () => {
      await postgres.stop()
      await dataDir.release()
    },
  }
}

const nothing = async (): Promise<void> => undefined

const main = async (options: HolderOptions): Promise<void> => {
  if (options.wait) await once(process.stdin, 'data')
  let stop = nothing
  try {
    const opened = await open(options)
    if (options.forgetful) setTimeout(() => globalThis.gc?.(), 1)
    else stop = opened.stop
    setTimeout(() => console.log(JSON.stringify(opened.outcome)), options.forgetful ? 50 : 0)
  } catch (error) {
    const { name, message } = error as Error
    const hint = error instanceof StartError ? error.hint : undefined
    console.log(JSON.stringify({ ready: false, name, message, hint } satisfies Outcome))
    process.exitCode = 1
    process.stdin.destroy()
    return
  }
  process.once('SIGTERM', () => {
    void stop().then(() => process.exit(0))
  })
  process.stdin.resume()
}

if (import.meta.main) await main(JSON.parse(process.argv[2]!) as HolderOptions)
