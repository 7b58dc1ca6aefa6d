// A worker for the chats of providers that kills itself at a fault point, for chats.test.ts.
import type { ChatRuntime } from '../../src/connectors/chats/runtime.ts'
import { registerEndpointJobs } from '../../src/connectors/endpoints/jobs.ts'
import { createChatAdapters } from '../../src/providers/providers.ts'
import { createKeyFetch } from '../../src/connectors/endpoints/signing-keys.ts'
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { buildServer } from '../../src/server.ts'
import { beginConnectorTurn, findConnectorReply } from '../../src/sessions/connector-turns.ts'
import { registerSessionJobs } from '../../src/sessions/jobs.ts'

export type FaultPoint = 'before-begin' | 'in-begin' | 'after-begin' | 'before-send' | 'after-send'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  env: Record<string, string>
  /** Serves HTTP and runs no jobs. */
  api?: boolean
  dieAt?: FaultPoint
  /** The org whose message kills it; messages of other orgs may come first. */
  orgId?: string
}

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
  // Blocks the thread until the signal arrives, so that nothing more happens.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const run = async ({ connection, env, api = false, dieAt, orgId }: Options): Promise<void> => {
  const config = parseConfig({ NODE_ENV: 'test', PORT: '0', RATE_LIMIT_RECEIVE: '0', ...env })
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  const { deps } = await openDeps(config, connection, log)
  const { db, jobs } = deps
  const passFaultPoint = (point: FaultPoint, ofOrg: string): void => {
    if (point === dieAt && ofOrg === orgId) die()
  }
  const runtime: ChatRuntime = {
    beginTurn: async (answering, hear, keep) => {
      passFaultPoint('before-begin', answering.orgId)
      const began = await beginConnectorTurn(
        deps,
        answering,
        async (db) => {
          const heard = await hear(db)
          if (heard) passFaultPoint('in-begin', answering.orgId)
          return heard
        },
        keep,
      )
      if (began) passFaultPoint('after-begin', answering.orgId)
      return began
    },
    findReply: (orgId, turnId) => findConnectorReply(db, orgId, turnId),
  }
  if (!api) {
    registerSessionJobs(deps)
    const adapters = createChatAdapters({ fetchDocument: createKeyFetch(deps) })
    registerEndpointJobs(jobs, {
      ...deps,
      adapters,
      runtime,
      onSend: (point, chat) => passFaultPoint(`${point}-send`, chat.orgId),
    })
  }
  await jobs.start({ work: !api })
  if (!api) {
    process.send?.('ready')
    return
  }
  const app = await buildServer(deps)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0)
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
