import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import type { Billing } from './billing.ts'
import type { PdfPrinter } from './documents/pdf.ts'
import type { PricedModel } from './ledger/pricing.ts'
import type { ModelNames } from './spending/spending.ts'

export interface BillingRouteDeps {
  config: Config
  db: Database
  jobs: Jobs
  log: Log
  secrets: Sealer
  billing: Billing
  models: ModelNames & { models: readonly PricedModel[] }
  printer: PdfPrinter
}
