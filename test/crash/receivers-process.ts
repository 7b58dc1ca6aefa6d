// A worker on the chats of providers, for receivers.test.ts to start: it kills itself at the moment that it is told.
import type { ChatRuntime } from '../../src/connectors/chats/runtime.ts'
import { registerReceiverJobs } from '../../src/connectors/endpoints/jobs.ts'
import { createReceivers } from '../../src/connectors/receivers/receivers.ts'
import { createKeyFetch } from '../../src/connectors/endpoints/signing-keys.ts'
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { buildServer } from '../../src/server.ts'
import { beginConnectorTurn, findConnectorReply } from '../../src/sessions/connector-turns.ts'
import { registerSessionJobs } from '../../src/sessions/jobs.ts'

export type Moment = 'before-begin' | 'in-begin' | 'after-begin' | 'before-send' | 'after-send'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  env: Record<string, string>
  /** Serves HTTP and works on nothing. */
  api?: boolean
  dieAt?: Moment
  /** Whose message it dies of: it may well find others' first. */
  orgId?: string
}

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
  // The signal is on its way; nothing more may happen.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const run = async ({ connection, env, api = false, dieAt, orgId }: Options): Promise<void> => {
  const config = parseConfig({ NODE_ENV: 'test', PORT: '0', RATE_LIMIT_RECEIVE: '0', ...env })
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  const { deps } = await openDeps(config, connection, log)
  const { db, jobs } = deps
  const reach = (moment: Moment, ofOrg: string): void => {
    if (moment === dieAt && ofOrg === orgId) die()
  }
  const runtime: ChatRuntime = {
    beginTurn: async (answering, hear, keep) => {
      reach('before-begin', answering.orgId)
      const began = await beginConnectorTurn(
        deps,
        answering,
        async (db) => {
          const heard = await hear(db)
          if (heard) reach('in-begin', answering.orgId)
          return heard
        },
        keep,
      )
      if (began) reach('after-begin', answering.orgId)
      return began
    },
    findReply: (orgId, turnId) => findConnectorReply(db, orgId, turnId),
  }
  if (!api) {
    registerSessionJobs(deps)
    const receivers = createReceivers({ fetchDocument: createKeyFetch(deps) })
    registerReceiverJobs(jobs, {
      ...deps,
      receivers,
      runtime,
      onSend: (moment, chat) => reach(`${moment}-send`, chat.orgId),
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
