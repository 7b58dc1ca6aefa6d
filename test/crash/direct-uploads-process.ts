// The process that direct-uploads.test.ts starts. It kills itself at the fault point in its options, in the org of the test.
import { Readable } from 'node:stream'
import { parseConfig } from '../../src/config/config.ts'
import { openDeps } from '../../src/deps.ts'
import { registerVerification } from '../../src/files/direct/verify.ts'
import type { Database } from '../../src/platform/database/database.ts'
import type { DirectUploads, ObjectStore } from '../../src/platform/object-store/object-store.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { buildServer } from '../../src/server.ts'

/** `begin`, `complete` and `abort` are requests to the store. */
export type FaultPoint =
  | 'after begin'
  | 'before complete'
  | 'after complete'
  | 'before abort'
  | 'after read'
  | 'before commit'
  | 'after commit'

export interface Options {
  connection: { host: string; port: number; user: string; database: string }
  env: Record<string, string>
  orgId: string
  dieAt: FaultPoint
  /** A worker verifies uploads; the API serves requests, and runs no jobs. */
  role: 'api' | 'worker'
}

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
  // Blocks until the signal arrives, so that no further code runs.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const run = async ({ connection, env, orgId, dieAt, role }: Options): Promise<void> => {
  const log = createLog('error', { write: (line) => void process.stderr.write(line) })
  const { deps } = await openDeps(parseConfig(env), connection, log)
  const reach = (point: FaultPoint): void => {
    if (point === dieAt) die()
  }
  const mortalStore = (objects: ObjectStore, direct: DirectUploads): ObjectStore => ({
    ...objects,
    get: async (...given) => {
      const bytes = await objects.get(...given)
      const read = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of bytes) yield chunk as Buffer
        reach('after read')
      }
      return Readable.from(read())
    },
    direct: {
      ...direct,
      begin: async (...given) => {
        const storeId = await direct.begin(...given)
        reach('after begin')
        return storeId
      },
      complete: async (...given) => {
        reach('before complete')
        await direct.complete(...given)
        reach('after complete')
      },
      abort: async (...given) => {
        reach('before abort')
        await direct.abort(...given)
      },
    },
  })
  const mortalDatabase = (db: Database): Database => ({
    ...db,
    guarded: (guard) => mortalDatabase(db.guarded(guard)),
    transaction: async (scope, work) => {
      const isOfOrg = typeof scope === 'object' && scope.orgId === orgId
      const result = await db.transaction(scope, async (transaction) => {
        const done = await work(transaction)
        if (isOfOrg) reach('before commit')
        return done
      })
      if (isOfOrg) reach('after commit')
      return result
    },
  })
  const { objects, jobs } = deps
  if (!objects.direct) throw new Error('the object store has no direct uploads')
  const mortal = { ...deps, db: mortalDatabase(deps.db), objects: mortalStore(objects, objects.direct) }
  if (role === 'worker') registerVerification(jobs, mortal)
  await jobs.start({ work: role === 'worker' })
  if (role === 'worker') return void process.send?.('')
  const app = await buildServer(mortal)
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }))
}

if (import.meta.main) await run(JSON.parse(process.argv[2] as string) as Options)
