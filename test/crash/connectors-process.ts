// The server that connectors.test.ts starts. It kills itself at the fault point in its options.
import { parseConfig } from '../../src/config/config.ts'
import { freshAccess } from '../../src/connectors/oauth/refresh.ts'
import type { ConnectionRef } from '../../src/connectors/connections/access.ts'
import type { OAuthFaultPoint } from '../../src/connectors/deps.ts'
import { openDeps } from '../../src/deps.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { buildServer } from '../../src/server.ts'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  env: Record<string, string>
  dieAt: OAuthFaultPoint
}

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
  // Blocks until the signal arrives, so that no further code runs.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const run = async ({ connection, env, dieAt }: Options): Promise<void> => {
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  const { deps } = await openDeps(parseConfig(env), connection, log)
  const mortal = {
    ...deps,
    onFaultPoint: (point: OAuthFaultPoint): void => {
      if (point === dieAt) die()
    },
  }
  await deps.jobs.start({ work: false })
  const app = await buildServer(mortal)
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.on('message', (ref: ConnectionRef) => void freshAccess(mortal, ref))
  const address = app.server.address()
  process.send?.(typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '')
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
