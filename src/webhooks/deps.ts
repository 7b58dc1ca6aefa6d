import type { Config } from '../config/config.ts'
import type { ChainHeaders } from '../outbox/chain.ts'
import type { Database } from '../platform/database/database.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { DeliveryWake } from './deliver/wake.ts'

export interface WebhookDeps {
  chains: ChainHeaders
  config: Config
  db: Database
  deliveryWake: DeliveryWake
  jobs: Jobs
  outbound: Outbound
  quotas: Quotas
  secrets: Sealer
  /** The org that has bound a Linear organization and receives its events; undefined if none has. */
  orgOfLinear: (db: Database, organizationId: string) => Promise<string | undefined>
}
