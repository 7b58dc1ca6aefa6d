import type { ModelCatalog } from '../agents/agents.ts'
import type { Billing } from '../billing/billing.ts'
import type { Config } from '../config/config.ts'
import type { Previewer } from '../files/files.ts'
import type { Database } from '../platform/database/database.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import type { Log } from '../platform/process/log.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { TurnStreams } from './streams/turn-streams.ts'
import type { TurnNotifier } from './streams/turn-notifier.ts'
import type { Toolbox } from './tools/tools.ts'

/** The dependencies of the routes of sessions, turns, streams and protocols. */
export interface SessionDeps {
  config: Config
  db: Database
  jobs: Pick<Jobs, 'enqueue' | 'occupy'>
  log: Log
  models: ModelCatalog
  notifier: TurnNotifier
  streams: TurnStreams
  billing: Pick<Billing, 'config'>
  toolbox: Toolbox
  objects: ObjectStore
  quotas: Quotas
  previewer: Previewer
}
