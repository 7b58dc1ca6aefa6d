// A worker for jobs.test.ts to kill. It reports over IPC and runs the commands that it receives.
import { openDatabase, sql } from '../../src/platform/database/database.ts'
import { createJobs, defineJob } from '../../src/platform/jobs/jobs.ts'
import type { JobTiming } from '../../src/platform/jobs/runner.ts'
import { createLog } from '../../src/platform/process/log.ts'

export const countKind = defineJob<{ n: number }>('crash.count')
export const stuckKind = defineJob<{ name: string }>('crash.stuck')

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  work: boolean
  timing?: Partial<JobTiming>
}

export type Command =
  /** Enqueues one `count` job, and commits if `commit` is true. */
  { enqueue: number; commit: boolean }

export type Report =
  | 'ready'
  | 'enqueued'
  /** A `stuck` job, which never ends, has started. */
  | { stuck: string; attempt: number }

const send = (report: Report): void => {
  process.send?.(report)
}

const run = async ({ connection, work, timing }: Options): Promise<void> => {
  const log = createLog('warn', { write: (line) => void process.stderr.write(line) })
  const db = openDatabase({ connection, poolSize: 5, hotConnections: 1, onError: () => undefined })
  const jobs = createJobs({ connection, log, ...(timing && { timing }) })
  jobs.work(
    countKind,
    async ({ n }) => void (await db.execute(sql`insert into runs (n, pid) values (${n}, ${process.pid})`)),
  )
  jobs.work(stuckKind, async ({ name }, { attempt }) => {
    send({ stuck: name, attempt })
    await new Promise(() => undefined)
  })
  await jobs.start({ work })
  process.on('message', (command: Command) => {
    void db
      .transaction('all orgs', async (db) => {
        await jobs.enqueue(db, countKind, { n: command.enqueue })
        if (!command.commit) {
          send('enqueued')
          await new Promise(() => undefined)
        }
      })
      .then(() => send('enqueued'))
  })
  send('ready')
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
