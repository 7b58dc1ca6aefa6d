import type { Database } from '../platform/database/database.ts'
import { dropExpired } from '../platform/database/partitions.ts'
import { defineJob } from '../platform/jobs/jobs.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import type { EventPublisher } from '../outbox/publisher.ts'
import { deleteOldChains } from './endpoints/queries.ts'

const applyRetention = defineJob<Record<string, never>>('events.retention')
const sweepMs = 1_000
const chainsAtOnce = 5_000

export interface EventJobDeps {
  config: { retention: { eventsDays: number } }
  db: Database
  jobs: Jobs
  log: Log
  publisher: EventPublisher
}

/** Publishes the events of processes that died after a commit, and applies the retention. */
export const registerEventJobs = ({ config, db, jobs, log, publisher }: EventJobDeps): void => {
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()
  let isStopped = false
  const schedule = (): void => {
    timer = setTimeout(() => {
      sweeping = publisher
        .sweep()
        .catch((error: unknown) => {
          if (!isStopped) log.warn({ err: error }, 'the outbox could not be read and is read later')
        })
        .finally(() => {
          if (!isStopped) schedule()
        })
    }, sweepMs).unref()
  }
  jobs.alongside({
    start: schedule,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await sweeping
    },
  })
  const { eventsDays } = config.retention
  jobs.work(
    applyRetention,
    async () => {
      await dropExpired(db, 'events', { days: eventsDays })
      while ((await deleteOldChains(db, chainsAtOnce)) > 0);
    },
    { concurrency: 1 },
  )
  jobs.schedule(applyRetention, '7 1 * * *')
}
