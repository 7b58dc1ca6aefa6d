import type { ModelCatalog } from '../agents/agents.ts'
import type { Billing } from '../billing/billing.ts'
import type { Config } from '../config/config.ts'
import type { Previewer } from '../files/files.ts'
import { createTurnWatch } from '../identity/sign-in/user-authority.ts'
import type { Database } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/jobs.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import * as eventQueries from './streams/queries.ts'
import { createModels } from './models/models.ts'
import { takeUpForsaken } from './runtime/forsaken-turns.ts'
import { workOnTurn } from './runtime/run-turn.ts'
import type { Probation } from './runtime/probation.ts'
import type { Toolbox } from './tools/tools.ts'
import type { TurnNotifier } from './streams/turn-notifier.ts'
import { cancelAsked } from './peers/peers.ts'
import { cancelPeers, turnJobs } from './runtime/job.ts'
import type { Moment } from './runtime/turn-run.ts'

export interface SessionJobDeps {
  config: Config
  db: Database
  jobs: Jobs
  log: Log
  objects: ObjectStore
  quotas: Quotas
  previewer: Previewer
  models: ModelCatalog
  notifier: TurnNotifier
  probation: Probation
  toolbox: Toolbox
  billing: Billing
  secrets: Sealer
}

export interface SessionJobOptions {
  /** Called at the moments at which a crash would hurt most. */
  onMoment?: (moment: Moment, turnId: string) => void
}

/** Turns wait for models most of their time, so one process has many of each kind under way: of one org, half of them. */
const turnsAtOnce = 400

const expireEvents = defineJob<Record<string, never>>('turn.expire-events')
const expireBatch = 5_000

const sweepTurns = defineJob<Record<string, never>>('turn.sweep')

/** The work on turns; every minute a look for those that were left; every hour the end of streams that are a day old. */
export const registerSessionJobs = (deps: SessionJobDeps, { onMoment }: SessionJobOptions = {}): void => {
  const { config, db, jobs, log } = deps
  const port = createModels({ providers: config.modelProviders, isDemoUnruly: config.environment !== 'production' })
  const authority = createTurnWatch(db, log)
  const runDeps = { ...deps, port, authority, ...(onMoment ? { onMoment } : {}) }
  for (const kind of turnJobs) {
    jobs.work(kind, (payload, context) => workOnTurn(runDeps, payload, context), { concurrency: turnsAtOnce })
  }
  jobs.work(cancelPeers, (payload) => cancelAsked(deps, payload))
  jobs.schedule(sweepTurns, '* * * * *')
  jobs.work(sweepTurns, async () => {
    await takeUpForsaken(deps)
  })
  jobs.schedule(expireEvents, '43 * * * *')
  jobs.work(expireEvents, async () => {
    while ((await eventQueries.expireEvents(db, expireBatch)) === expireBatch);
  })
}
