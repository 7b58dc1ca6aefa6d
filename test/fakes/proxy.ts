// The proxies of deploy/, as Debian packages them, with their configurations of the repository.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { available } from '../support/require.ts'
import { findInstalled, freePort, isListening } from './programs.ts'
import { until } from '../support/until.ts'

export type ProxyName = 'nginx' | 'haproxy'

const programs = { nginx: await findInstalled('nginx'), haproxy: await findInstalled('haproxy') }

export const hasProxy = (name: ProxyName): Promise<boolean> =>
  available(name, () => programs[name] !== undefined, `apt-get install --no-install-recommends ${name}`)

/** Replaces a text that must occur, so that a changed file fails a test instead of being tested unchanged. */
const replaced = (text: string, from: string | RegExp, to: string): string => {
  if (text.search(from) === -1) throw new Error(`the configuration does not contain ${from}`)
  return text.replace(from, to)
}

const configOf = {
  nginx: async (folder: string, port: number, servers: readonly [string, string]): Promise<string[]> => {
    let site = await readFile(new URL('../../deploy/nginx/atrium.conf', import.meta.url), 'utf8')
    site = replaced(site, 'listen 80;', `listen 127.0.0.1:${port};`)
    for (const [place, server] of servers.entries()) site = replaced(site, `api-${place + 1}:3000`, server)
    await writeFile(join(folder, 'atrium.conf'), site)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    )
    await writeFile(
      join(folder, 'nginx.conf'),
      `daemon off; worker_processes 2; pid ${folder}/pid; error_log ${folder}/error.log;
       events {} http { access_log off; ${temporary.join(' ')} include ${folder}/atrium.conf; }`,
    )
    return ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')]
  },
  haproxy: async (folder: string, port: number, servers: readonly [string, string]): Promise<string[]> => {
    let config = await readFile(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url), 'utf8')
    config = replaced(config, 'bind :80', `bind 127.0.0.1:${port}`)
    for (const [place, server] of servers.entries()) config = replaced(config, `api-${place + 1}:3000`, server)
    await writeFile(join(folder, 'haproxy.cfg'), config)
    return ['-db', '-f', join(folder, 'haproxy.cfg')]
  },
}

/** Starts a proxy on loopback in front of two servers (`host:port`), until the last test of the file. Returns its port. */
export const startProxy = async (name: ProxyName, servers: readonly [string, string]): Promise<number> => {
  const program = programs[name]
  if (program === undefined) throw new Error(`${name} is not installed`)
  const folder = await mkdtemp(join(tmpdir(), `atrium-${name}-`))
  await mkdir(join(folder, 'client_body'))
  const port = await freePort()
  const child = spawn(program, await configOf[name](folder, port, servers), { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  after(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await until(`${name} accepts connections`, async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${output}`)
    return isListening(port)
  })
  return port
}
