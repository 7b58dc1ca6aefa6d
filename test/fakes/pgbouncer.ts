import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { findInstalled, freePort, isListening } from './programs.ts'
import { available } from '../support/require.ts'
import { until } from '../support/until.ts'

const program = await findInstalled('pgbouncer')

/** Whether PgBouncer is installed. If not, the summary names the skipped tests, or the run fails. */
export const hasPgbouncer = (): Promise<boolean> =>
  available('pgbouncer', () => program !== undefined, 'apt-get install --no-install-recommends pgbouncer')

/** A real PgBouncer on loopback in transaction mode. */
export interface TestPgbouncer {
  /** The URL of a database of the server behind it. */
  url(database: string): string
  stop(): Promise<void>
}

/** PgBouncer runs as another user, who cannot enter the directory of the socket of the test server. */
const relayTo = async ({ host, port }: pg.ClientConfig) => {
  const relay = createServer({ noDelay: true }, (socket) => {
    const server = connect(`${host}/.s.PGSQL.${port}`)
    for (const [from, to] of [
      [socket, server],
      [server, socket],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  return relay
}

/**
 * Runs deploy/pgbouncer/pgbouncer.ini with other addresses. `poolSize`: connections to the server for each database.
 * `settings`: lines of its configuration that replace or extend those of the file.
 */
export const startPgbouncer = async (
  server: pg.ClientConfig,
  { poolSize, settings = [] }: { poolSize: number; settings?: string[] },
): Promise<TestPgbouncer> => {
  if (program === undefined) throw new Error('there is no pgbouncer')
  const relay = await relayTo(server)
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'atrium-pgbouncer-'))
  await chmod(folder, 0o777)
  const file = join(folder, 'pgbouncer.ini')
  const log = join(folder, 'pgbouncer.log')
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${(relay.address() as AddressInfo).port} user=${server.user}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `default_pool_size = ${poolSize}`,
    'server_tls_sslmode = disable',
    `logfile = ${log}`,
    ...settings,
  ]
  // The rest is as in the file for installations.
  const given = new Set(lines.map((line) => line.split(' ', 1)[0]))
  const published = await readFile(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url), 'utf8')
  const [, section = ''] = published.split('[pgbouncer]\n')
  const others = section
    .split('\n')
    .filter((line) => /^\w+ =/.test(line) && !line.startsWith('auth_file') && !given.has(line.split(' ', 1)[0]))
  await writeFile(file, `${[...lines, ...others].join('\n')}\n`)
  // It does not run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, ['-q', ...user, file], { stdio: 'ignore', cwd: '/' })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  await until('PgBouncer listens', async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${await readFile(log, 'utf8').catch(() => '')}`)
    return isListening(port)
  })
  return {
    url: (database) => `postgres://${server.user}@127.0.0.1:${port}/${database}`,
    stop: async () => {
      process.off('exit', kill)
      const exited = once(child, 'exit')
      kill()
      await exited
      relay.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
