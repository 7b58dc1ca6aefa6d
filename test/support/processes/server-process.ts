import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { childEnv } from '../child-processes.ts'

export interface ServerProcess {
  child: ChildProcess
  /** Empty for a worker, which has no API. */
  url: string
  /** Everything printed so far, both streams. */
  output(): string
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
  /** Sends SIGKILL and resolves when the process has ended. */
  kill(): Promise<void>
}

const ownRoot = new URL('../../../', import.meta.url)

const alive = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

type Role = 'all' | 'api' | 'worker'

const spawnServer = (
  env: Record<string, string>,
  role: Role = 'all',
  root = ownRoot,
): { child: ChildProcess; output: () => string } => {
  const child = spawn(process.execPath, [new URL('src/main.ts', root).pathname, '--role', role], {
    env: {
      ...childEnv,
      NODE_ENV: 'development',
      PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, output: () => text }
}

/**
 * Starts a server process and resolves when it is ready. Throws with its output when it does not become ready. `root`: the
 * files of another version.
 */
export const startServerProcess = async (
  env: Record<string, string>,
  role: Role = 'all',
  root?: URL,
): Promise<ServerProcess> => {
  const { child, output } = spawnServer(env, role, root)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const [, found] = /is ready after .* s: (http:\S+)/.exec(output()) ?? []
      if (found !== undefined) resolve(found)
      else if (output().includes('worker is ready after')) resolve('')
    })
    child.once('exit', () => reject(new Error(output())))
  })
  return {
    child,
    url,
    output,
    stop: async () => {
      child.kill('SIGTERM')
      const [code] = (await once(child, 'exit')) as [number | null]
      return code
    },
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** Starts a server that is expected to fail. Returns its exit code and output. */
export const failToStart = async (
  env: Record<string, string>,
  role: Role = 'all',
): Promise<{ code: number | null; output: string }> => {
  const { child, output } = spawnServer(env, role)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output: output() }
}
