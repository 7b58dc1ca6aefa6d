// Serves the routes of things.ts for idempotency.test.ts, which kills it. Sends its URL over IPC.
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { serveThings } from '../support/things.ts'
import type { Moment } from '../support/things.ts'

const [connection, dataDir, dieWhen] = process.argv.slice(2) as [string, string, Moment]
const config = parseConfig({ NODE_ENV: 'test', DATA_DIR: dataDir })
const { deps } = await openDeps(config, JSON.parse(connection), createLog('silent'))
const { url } = await serveThings(deps, { dieWhen })
process.send?.(url)
