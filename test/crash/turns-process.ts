// A worker on chat turns, for turns.test.ts to start: it kills itself at the moment that it is told.
import { appendFileSync } from 'node:fs'
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import { sql } from '../../src/platform/database/database.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { registerSessionJobs } from '../../src/sessions/jobs.ts'
import { fileTools } from '../../src/sessions/tools/file-tools.ts'
import { createPeerTools } from '../../src/sessions/peers/peers.ts'
import { builtIn, createToolbox } from '../../src/sessions/tools/tools.ts'
import type { Tool, ToolContext } from '../../src/sessions/tools/tools.ts'
import type { Moment } from '../../src/sessions/runtime/turn-run.ts'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  dataDir: string
  /** Gets a line with the turn's id for each call of a model. */
  callsFile: string
  /** Dies there, at the `nth` time that it gets there. */
  dieAt?: Moment | 'in-tool'
  nth?: number
}

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
  // The signal is on its way; nothing more may happen.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** A tool that leaves a row each time it runs, in a table that no checkpoint knows of. */
const leavesARow = (name: string, isReadOnly: boolean, afterwards: () => void): Tool => ({
  name,
  description: 'Leaves a row.',
  inputSchema: { type: 'object', properties: {} },
  isReadOnly,
  permission: 'files:read',
  run: async ({ db, actor }: ToolContext) => {
    await db.execute(sql`insert into effects (user_id, tool) values (${actor.userId}, ${name})`)
    afterwards()
    return { done: true }
  },
})

const run = async ({ connection, dataDir, callsFile, dieAt, nth = 1 }: Options): Promise<void> => {
  const config = parseConfig({ NODE_ENV: 'test', DATA_DIR: dataDir })
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  const { deps } = await openDeps(config, connection, log)
  let times = 0
  const reached = (moment: Moment | 'in-tool'): void => {
    if (moment === dieAt && (times += 1) === nth) die()
  }
  const inTool = (): void => reached('in-tool')
  const tools = [...fileTools, leavesARow('test.change', false, inTool), leavesARow('test.look', true, inTool)]
  const toolbox = createToolbox([builtIn(tools), createPeerTools(deps)], log)
  registerSessionJobs(
    { ...deps, toolbox },
    {
      onMoment: (moment, turnId) => {
        if (moment === 'before-model-call') appendFileSync(callsFile, `${turnId}\n`)
        reached(moment)
      },
    },
  )
  await deps.jobs.start({ work: true })
  process.send?.('ready')
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
