// A worker process for stray.test.ts that runs chat turns with tools that have bugs.
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { guardProcess, unhandledErrors } from '../../src/platform/process/units.ts'
import { startWatchdog } from '../../src/platform/process/watchdog.ts'
import { registerSessionJobs } from '../../src/sessions/jobs.ts'
import { builtIn, createToolbox } from '../../src/sessions/tools/tools.ts'
import type { Tool } from '../../src/sessions/tools/tools.ts'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  dataDir: string
  watchdogSeconds?: number
  /** Throws outside of every unit of work. */
  breaks?: 'exception' | 'rejection'
}

const forever = (): Promise<never> => new Promise(() => undefined)

const tool = (name: string, run: () => Promise<unknown>): Tool => ({
  name,
  description: 'Has a bug.',
  inputSchema: { type: 'object', properties: {} },
  isReadOnly: true,
  permission: 'files:read',
  run,
})

const tools = [
  tool('test.reject', () => {
    void Promise.reject(new Error('planted rejection'))
    return forever()
  }),
  tool('test.throw', () => {
    setTimeout(() => {
      throw new Error('planted exception')
    }, 5)
    return forever()
  }),
  // Blocks the event loop, as a regular expression with exponential backtracking does.
  tool('test.freeze', () => {
    for (;;);
  }),
]

const run = async ({ connection, dataDir, watchdogSeconds, breaks }: Options): Promise<void> => {
  const config = parseConfig({ NODE_ENV: 'test', DATA_DIR: dataDir })
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  if (watchdogSeconds !== undefined) startWatchdog(watchdogSeconds, log)
  const { deps } = await openDeps(config, connection, log)
  registerSessionJobs({ ...deps, toolbox: createToolbox([builtIn(tools)], log) })
  guardProcess(log, () => process.exit(70))
  await deps.jobs.start({ work: true })
  process.on('message', () => process.send?.(Object.fromEntries(unhandledErrors())))
  process.send?.('ready')
  if (breaks === 'rejection') void Promise.reject(new Error('planted rejection'))
  if (breaks === 'exception') {
    setImmediate(() => {
      throw new Error('planted exception')
    })
  }
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
