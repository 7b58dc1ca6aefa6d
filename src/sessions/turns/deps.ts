import type { ModelCatalog } from '../../agents/agents.ts'
import type { Billing } from '../../billing/billing.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { TurnNotifier } from '../streams/turn-notifier.ts'

/** The dependencies of creating, cancelling and resuming turns. */
export interface TurnDeps {
  /** Within a request it is `request.db`, so that the idempotency key is stored in the same transaction. */
  db: Database
  jobs: Pick<Jobs, 'enqueue' | 'occupy'>
  models: ModelCatalog
  notifier: TurnNotifier
  billing: Pick<Billing, 'config'>
}
