// A worker process that runs chat turns for turns.test.ts. It kills itself at the given fault point.
import { appendFileSync } from 'node:fs'
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import { sql } from '../../src/platform/database/database.ts'
import { buildServer } from '../../src/server.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { registerSessionJobs } from '../../src/sessions/jobs.ts'
import { fileTools } from '../../src/sessions/tools/file-tools.ts'
import { createPeerTools } from '../../src/sessions/peers/peers.ts'
import { builtIn, createToolbox } from '../../src/sessions/tools/tools.ts'
import type { Tool, ToolContext } from '../../src/sessions/tools/tools.ts'
import type { FaultPoint } from '../../src/sessions/runtime/fault-points.ts'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  dataDir: string
  /** The worker appends the turn's id to this file for each model call. */
  callsFile: string
  /** The worker kills itself when it reaches this point for the `nth` time. */
  dieAt?: FaultPoint | 'in-tool'
  nth?: number
  /** It also serves HTTP and sends its URL to the test. Turns that it creates start in it without a job. */
  serves?: boolean
}

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
  // Blocks this thread until the signal arrives, so that nothing more happens.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** A tool that inserts a row each time it runs, outside of every checkpoint, so that tests can count its runs. */
const countingTool = (name: string, isReadOnly: boolean, afterwards: () => void): Tool => ({
  name,
  description: 'Inserts a row.',
  inputSchema: { type: 'object', properties: {} },
  isReadOnly,
  permission: 'files:read',
  run: async ({ db, actor }: ToolContext) => {
    await db.execute(sql`insert into effects (user_id, tool) values (${actor.userId}, ${name})`)
    afterwards()
    return { done: true }
  },
})

const run = async ({ connection, dataDir, callsFile, dieAt, nth = 1, serves = false }: Options): Promise<void> => {
  const config = parseConfig({ NODE_ENV: 'test', DATA_DIR: dataDir, PORT: '0' })
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  const { deps } = await openDeps(config, connection, log)
  let times = 0
  const reached = (point: FaultPoint | 'in-tool'): void => {
    if (point === dieAt && (times += 1) === nth) die()
  }
  const inTool = (): void => reached('in-tool')
  const tools = [...fileTools, countingTool('test.change', false, inTool), countingTool('test.look', true, inTool)]
  const toolbox = createToolbox([builtIn(tools), createPeerTools(deps)], log)
  registerSessionJobs(
    { ...deps, toolbox },
    {
      onFaultPoint: (point, turnId) => {
        if (point === 'before-model-call') appendFileSync(callsFile, `${turnId}\n`)
        reached(point)
      },
    },
  )
  await deps.jobs.start({ work: true })
  if (!serves) {
    process.send?.('ready')
    return
  }
  const server = await buildServer({ ...deps, toolbox })
  process.send?.(await server.listen({ host: '127.0.0.1', port: 0 }))
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
