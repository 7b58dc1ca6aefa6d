import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'

export interface AppDeps {
  config: Config
  db: Database
  secrets: Sealer
  outbound: Outbound
}
