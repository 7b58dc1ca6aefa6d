import type { Config } from '../../config/config.ts'
import type { StoreDeps } from '../../files/files.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'

/** What the routes of WebDAV need. */
export interface DavDeps extends StoreDeps {
  config: Config
  jobs: Pick<Jobs, 'enqueue'>
}
