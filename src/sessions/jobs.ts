import type { ModelCatalog } from '../agents/agents.ts'
import type { Billing } from '../billing/billing.ts'
import type { Config } from '../config/config.ts'
import type { Previewer } from '../files/files.ts'
import { createTurnWatch } from '../identity/sign-in/user-authority.ts'
import type { Database } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/jobs.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import * as eventQueries from './streams/queries.ts'
import type { Circuits } from './models/circuits.ts'
import { createModelClient } from './models/models.ts'
import { createDeadWorkerCheck } from './runtime/dead-workers.ts'
import { requeueOrphanedTurns } from './runtime/orphaned-turns.ts'
import { runTurn } from './runtime/run-turn.ts'
import type { OutputValidator } from './output/validator.ts'
import type { Probation } from './runtime/probation.ts'
import type { Toolbox } from './tools/tools.ts'
import type { TurnNotifier } from './streams/turn-notifier.ts'
import { cancelPeerTurns } from './peers/peers.ts'
import { dropOldMessages } from './retention.ts'
import { cancelPeers, turnJobs } from './runtime/jobs.ts'
import { createKeptPictures } from './runtime/prompt/kept-pictures.ts'
import { createMediaBudget, mediaBudgetLimits } from './runtime/prompt/media-budget.ts'
import type { FaultPoint } from './runtime/fault-points.ts'

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
  outbound: Outbound
  circuits: Circuits
  outputValidator: OutputValidator
}

export interface SessionJobOptions {
  /** For crash tests. Called at every fault point of a turn. */
  onFaultPoint?: (point: FaultPoint, turnId: string) => void
}

/** Per depth. Turns mostly wait for models, so a process runs many at the same time. One org may use half of them. */
const turnConcurrency = 400

const expireEvents = defineJob<Record<string, never>>('turn.expire-events')
const expireBatchSize = 5_000

const applyRetention = defineJob<Record<string, never>>('turn.retention')

const sweepTurns = defineJob<Record<string, never>>('turn.sweep')

/** Runs turns, requeues orphaned turns every minute, deletes stream frames older than a day, and applies the retention. */
export const registerSessionJobs = (deps: SessionJobDeps, { onFaultPoint }: SessionJobOptions = {}): void => {
  const { config, db, jobs, log } = deps
  const modelClient = createModelClient({
    providers: config.modelProviders,
    allowsTestCommands: config.environment !== 'production',
    outbound: deps.outbound,
    circuits: deps.circuits,
  })
  const authorityWatch = createTurnWatch(db, log)
  const media = { mediaBudget: createMediaBudget(mediaBudgetLimits), keptPictures: createKeptPictures() }
  const runDeps = { ...deps, modelClient, authorityWatch, ...media, ...(onFaultPoint ? { onFaultPoint } : {}) }
  for (const job of turnJobs) {
    jobs.work(job, (payload, context) => runTurn(runDeps, payload, context), { concurrency: turnConcurrency })
  }
  jobs.alongside(createDeadWorkerCheck(deps))
  jobs.work(cancelPeers, (payload) => cancelPeerTurns(deps, payload))
  jobs.schedule(sweepTurns, '* * * * *')
  jobs.work(sweepTurns, async () => {
    await requeueOrphanedTurns(deps)
  })
  jobs.schedule(expireEvents, '43 * * * *')
  jobs.work(expireEvents, async () => {
    while ((await eventQueries.expireEvents(db, expireBatchSize)) === expireBatchSize);
  })
  const { messagesDays } = config.retention
  jobs.schedule(applyRetention, '47 1 * * *')
  jobs.work(
    applyRetention,
    async (_payload, { signal }) => {
      if (messagesDays > 0) await dropOldMessages(deps, messagesDays, signal)
    },
    { concurrency: 1 },
  )
}
