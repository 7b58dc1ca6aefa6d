// A worker with a subscription to events, for subscriptions.test.ts to kill. It reports over IPC.
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import type { Deps } from '../../src/deps.ts'
import { defineSubscription } from '../../src/outbox/subscriptions/subscriptions.ts'
import { sql } from '../../src/platform/database/database.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { registerJobs } from '../../src/worker.ts'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  dataDir: string
  /** It reports the first event of a subject and never finishes it. */
  blocks: boolean
}

/** Inserts a row for each attempt to handle an event. */
export const crashAgents = (blocks: boolean) =>
  defineSubscription({
    name: 'crash-agents',
    types: ['agent.deleted'],
    handle: async ({ db }: Deps, { subjectId, sequence }, { attempt }) => {
      await db.execute(sql`
        insert into handled (subject_id, sequence, attempt) values (${subjectId}, ${sequence.toString()}, ${attempt})`)
      if (!blocks || sequence !== 1n) return
      process.send?.('blocked')
      await new Promise(() => undefined)
    },
  })

const run = async ({ connection, dataDir, blocks }: Options): Promise<void> => {
  const config = parseConfig({ NODE_ENV: 'test', DATA_DIR: dataDir, PORT: '0' })
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  const { deps } = await openDeps(config, connection, log)
  registerJobs(deps, [crashAgents(blocks)])
  await deps.jobs.start({ work: true })
  deps.publisher.start()
  process.send?.('ready')
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
