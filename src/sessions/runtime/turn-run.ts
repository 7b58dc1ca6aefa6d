import type { ModelCatalog } from '../../agents/agents.ts'
import type { Billing } from '../../billing/billing.ts'
import type { Config } from '../../config/config.ts'
import type { Previewer } from '../../files/files.ts'
import type { AuthorityWatch } from '../../identity/sign-in/user-authority.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import type { Cast } from './cast.ts'
import { writeCheckpoint } from './checkpoint-queries.ts'
import type { Checkpoint, Held } from './checkpoint-queries.ts'
import { isInStepAfter } from '../streams/stream-parts.ts'
import type { StreamPart } from '../streams/stream-parts.ts'
import type { ModelPort } from '../models/model-port.ts'
import type { Probation } from './probation.ts'
import type { Progress } from './progress.ts'
import type { StreamLog } from '../streams/stream-log.ts'
import type { Toolbox } from '../tools/tools.ts'
import type { TurnNotifier } from '../streams/turn-notifier.ts'
import type { ClaimedTurn } from '../turns/queries.ts'

/** The moments of a turn at which a crash would hurt most. The crash tests die there. */
export type Moment =
  | 'before-model-call'
  | 'mid-stream'
  | 'after-stream'
  | 'before-tool'
  | 'after-tool'
  | 'before-end'
  | 'after-end'

export interface RunDeps {
  config: Pick<Config, 'modelSilenceMs' | 'turnLimitMs'>
  db: Database
  jobs: Pick<Jobs, 'enqueue'>
  log: Log
  objects: ObjectStore
  quotas: Quotas
  previewer: Previewer
  models: ModelCatalog
  notifier: TurnNotifier
  /** Of the turns of this process. */
  authority: AuthorityWatch
  port: ModelPort
  toolbox: Toolbox
  billing: Pick<Billing, 'config' | 'settler'>
  secrets: Sealer
  probation: Probation
  onMoment?: (moment: Moment, turnId: string) => void
}

/** One worker's hold on one turn. */
export interface Hold {
  deps: RunDeps
  turn: ClaimedTurn
  held: Held
  progress: Progress & { /** Its stream is between a `start-step` and its `finish-step`. */ isInStep: boolean }
  stream: StreamLog
  /** Aborted when the turn is not ours any more, or its time is up. The reason says which. */
  signal: AbortSignal
  startedAtMs: number
}

/** A hold that has everything it takes to go on. */
export type Run = Hold & Cast

/** A lease that a killed worker left is over before its job is given to another one (20 s). */
export const turnLease = { leaseMs: 15_000, renewMs: 2_000 }

/** The reason of a run's signal when the turn has used up its time. */
export class TimeIsUp extends Error {
  constructor() {
    super('the turn has used up its time')
    this.name = 'TimeIsUp'
  }
}

/** What is left of the turn's time. */
export const leftMsOf = ({ deps, turn, startedAtMs }: Hold): number =>
  Math.min(deps.config.turnLimitMs - Number(turn.workedMs), turn.chainLeftMs ?? Infinity) -
  (performance.now() - startedAtMs)

export const say = (run: Hold, frame: StreamPart): void => {
  run.progress.isInStep = isInStepAfter(frame) ?? run.progress.isInStep
  run.stream.push(frame)
}

export const reach = (run: Hold, moment: Moment): void => run.deps.onMoment?.(moment, run.turn.id)

/** Writes a checkpoint with all frames so far. Rejects when the turn is not ours any more. */
export const save = async (run: Hold, checkpoint: Checkpoint): Promise<void> => {
  await run.stream.write((frames) =>
    writeCheckpoint(run.deps.db, run.held, turnLease.leaseMs, {
      ...checkpoint,
      frames,
      untrustedFrom: run.turn.untrustedFrom,
    }),
  )
  if (checkpoint.ended) run.deps.billing.settler.soon(run.held.orgId)
}
