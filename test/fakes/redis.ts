import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { available } from '../support/require.ts'
import { findInstalled, freePort } from './programs.ts'

const program = (await findInstalled('redis-server')) ?? (await findInstalled('valkey-server'))

/** Whether redis-server is installed. If not, the summary names the skipped tests, or the run fails. */
export const hasRedis = (): Promise<boolean> =>
  available('redis', () => program !== undefined, 'apt-get install --no-install-recommends redis-server')

/** A real Redis on loopback that keeps nothing on disk. */
export interface TestRedis {
  url: string
  /** Starts or restarts an empty Redis on the same port. Resolves when it accepts connections. */
  start(): Promise<void>
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  /** Suspends it: connections stay open without responses. */
  freeze(): void
  thaw(): void
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
    socket.once('connect', () => socket.write('PING\r\n'))
  })

/**
 * Starts redis-server on loopback, without a copy on disk. Resolves when it accepts connections. `first` precedes the other
 * arguments, for the path of a configuration file.
 */
export const spawnRedis = async (port: number, args: string[] = [], first: string[] = []): Promise<ChildProcess> => {
  if (program === undefined) throw new Error('there is no redis-server on the path')
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', ...args]
  // A replica writes a dump to its directory, which the next server there would load.
  const folder = await mkdtemp(join(tmpdir(), 'atrium-redis-'))
  const child = spawn(program, [...first, ...options], { stdio: 'ignore', cwd: folder })
  child.once('exit', () => void rm(folder, { recursive: true, force: true }))
  process.once('exit', () => child.kill('SIGKILL'))
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    await sleep(10)
  }
  return child
}

export const createRedis = async (): Promise<TestRedis> => {
  const port = await freePort()
  let child: ChildProcess | undefined
  return {
    url: `redis://127.0.0.1:${port}`,
    start: async () => {
      child = await spawnRedis(port, ['--save', '', '--appendonly', 'no'])
    },
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  }
}
