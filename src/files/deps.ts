import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { ObjectStore } from '../platform/object-store/object-store.ts'
import type { Log } from '../platform/process/log.ts'
import type { Quotas } from '../quotas/quotas.ts'
import type { UploadEnds } from './direct/ended.ts'
import type { Previewer } from './preview/previewer.ts'
import type { SigningKey } from './signed-urls/token.ts'

/** What storing a file needs. */
export interface StoreDeps {
  db: Database
  log: Log
  objects: ObjectStore
  quotas: Quotas
}

/** What signing a URL needs. */
export interface SigningDeps {
  config: Config
  objects: ObjectStore
  signingKeys: readonly SigningKey[]
}

/** What reading a file as a preview or as text needs. */
export interface PreviewDeps {
  db: Database
  objects: ObjectStore
  previewer: Previewer
}

/** What the routes of files and projects need. */
export interface FilesDeps extends StoreDeps, SigningDeps, PreviewDeps {
  jobs: Pick<Jobs, 'enqueue'>
  uploadEnds: UploadEnds
}
