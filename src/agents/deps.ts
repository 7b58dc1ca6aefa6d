import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { KnownTools } from '../tool.ts'
import type { ModelCatalog } from './model-catalog.ts'

export interface AgentDeps {
  config: Config
  db: Database
  models: ModelCatalog
  quotas: Quotas
  /** The tools and connectors that `settings.approvals` and consents may name. */
  knownTools: KnownTools
}
