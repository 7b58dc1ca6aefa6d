import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { parseConfig, variables } from '../src/config/config.ts'
import type { Config } from '../src/config/config.ts'
import { openDeps } from '../src/deps.ts'
import type { Deps } from '../src/deps.ts'
import { sql } from '../src/platform/database/database.ts'
import type { Database } from '../src/platform/database/database.ts'
import type { App } from '../src/platform/http/http.ts'
import { newId } from '../src/platform/ids.ts'
import { generateKey, hashKey } from '../src/platform/key-format.ts'
import { createLog } from '../src/platform/process/log.ts'
import { buildServer } from '../src/server.ts'
import type { EventSubscription } from '../src/outbox/subscriptions/subscriptions.ts'
import { eventSubscriptions, registerJobs } from '../src/worker.ts'
import type { Role } from '../src/identity/permissions.ts'
import { issueStepUpToken } from '../src/identity/sign-in/second-factor/step-up.ts'
import { assertDocumented, noteAnswer } from './support/documented.ts'
import { assertValidEvents } from './support/database/recorded-events.ts'
import { cloneDatabase, sharedServer } from './database.ts'
import { failWhenOpen } from './open-handles.ts'
import { settled } from './support/settled.ts'

/** A caller: a user of an org with an API key. */
export interface TestActor {
  orgId: string
  userId: string
  email: string
  workspaceId: string
  key: string
  apiKeyId: string
}

export interface Answer {
  status: number
  headers: Headers
  /** The parsed JSON body, or undefined. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
  body: any
  text: string
}

export interface CallOptions {
  as?: TestActor | string
  /** Sent as JSON. */
  json?: unknown
  body?: ConstructorParameters<typeof Response>[0]
  headers?: Record<string, string>
}

export interface TestApp {
  app: App
  deps: Deps
  db: Database
  config: Config
  connection: pg.ClientConfig
  /** `http://127.0.0.1:<port>` */
  url: string
  /** Every log line so far. */
  logLines: string[]
  /** Sends one HTTP request. `path` is relative to the origin, such as `/api/v1/me`. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** A new org with one workspace and one owner. */
  createOrg(name?: string): Promise<TestActor>
  /** Another user in the org of `of`, by default in its workspace. */
  createUser(of: TestActor, role?: Role, options?: { inWorkspace?: boolean; scopes?: string[] }): Promise<TestActor>
  /** The headers of a caller who has just stepped up. */
  stepUp(actor: TestActor): Promise<Record<string, string>>
  /**
   * The clock of the rate limits, in milliseconds, for all servers of the file. It stands still unless a test moves it,
   * so that no bucket refills on a slow machine.
   */
  limitClock: { ms: number }
  /**
   * Resolves when all work that has started has ended: jobs, deliveries of events, charges. Await it before you count
   * requests at a fake, because work of an earlier test could still arrive.
   */
  settled(): Promise<void>
  /**
   * A second server on the same database. With a different environment it runs no jobs by default, because it would run
   * jobs of other tests with its configuration.
   */
  secondServer(env?: Record<string, string>, options?: TestAppOptions): Promise<TestApp>
}

export interface TestAppOptions {
  /** Whether it also runs jobs. */
  work?: boolean
  /** Subscriptions to events besides those of the server. */
  subscriptions?: readonly EventSubscription<Deps>[]
  /** Replacements of external services, such as an outbound guard with a resolver that the test controls. */
  replace?: Partial<Deps>
  /** Creates the database on the server of `connection`; by default a copy of the migrated template. */
  createDatabase?: typeof cloneDatabase
}

/** Resources that the servers of a file share. */
interface Shared {
  /** The environment of the first server. */
  env: Record<string, string>
  connection: pg.ClientConfig
  cleanUp: (() => Promise<void>)[]
  limitClock: { ms: number }
}

interface NewUser {
  orgId: string
  workspaceId: string
  role: Role
  inWorkspace: boolean
  scopes: string[]
}

/** The body. Of the stream of the org's events, which does not end, the first event only. */
const textOf = async (path: string, response: Response): Promise<string> => {
  if (!path.startsWith('/api/v1/events/stream') || response.status !== 200) return response.text()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk as Uint8Array)
    if (text.includes('\n\n')) break
  }
  return text
}

/** Sends requests to a server: one of a test, or a process. */
export const callerOf =
  (url: string): TestApp['call'] =>
  async (method, path, options = {}) => {
    const headers = new Headers(options.headers)
    if (options.as !== undefined && !headers.has('authorization')) {
      headers.set('authorization', `Bearer ${typeof options.as === 'string' ? options.as : options.as.key}`)
    }
    let body = options.body ?? null
    if (options.json !== undefined) {
      headers.set('content-type', 'application/json')
      body = JSON.stringify(options.json)
    }
    // fetch requires `duplex` for a body that is a stream.
    const response = await fetch(url + path, { method, headers, body, redirect: 'manual', duplex: 'half' })
    noteAnswer(method, path, response.status)
    const text = await textOf(path, response)
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
      text,
    }
  }

const listen = async (
  config: Config,
  shared: Shared,
  { work = true, replace = {}, subscriptions = [] }: TestAppOptions = {},
): Promise<TestApp> => {
  const { connection, cleanUp, limitClock } = shared
  const logLines: string[] = []
  const log = createLog('debug', { write: (line) => void logLines.push(line) })
  // Longer time limits, because previews and requests must not fail when many tests run at the same time.
  const patient = { connectionTimeoutMillis: 60_000, ...connection }
  const opened = await openDeps(config, patient, log, { sandbox: { timeoutMs: 120_000, niceness: 0 } })
  const { close } = opened
  const deps = {
    ...opened.deps,
    limiterOptions: { now: () => limitClock.ms, redisTimeoutMs: 60_000 },
    ...replace,
  }
  registerJobs(deps, [...eventSubscriptions, ...subscriptions])
  await deps.jobs.start({ work })
  deps.publisher.start()
  const { db } = deps
  const app = await buildServer(deps)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  const url = `http://127.0.0.1:${address.port}`
  cleanUp.push(async () => {
    await app.close()
    await close()
  })

  const addUser = async ({ orgId, workspaceId, role, inWorkspace, scopes }: NewUser) => {
    const userId = newId()
    const apiKeyId = newId()
    const email = `user-${randomBytes(6).toString('hex')}@example.com`
    const key = generateKey(config.keyEnvironment)
    await db.transaction('all orgs', async (db) => {
      await db.execute(sql`insert into users (id, email, name) values (${userId}, ${email}, ${'User'})`)
      await db.execute(
        sql`insert into members (org_id, id, user_id, name, role) values (${orgId}, ${newId()}, ${userId}, ${'User'}, ${role})`,
      )
      if (inWorkspace) {
        await db.execute(
          sql`insert into workspace_members (org_id, workspace_id, user_id) values (${orgId}, ${workspaceId}, ${userId})`,
        )
      }
      await db.execute(sql`
        insert into api_keys (org_id, id, user_id, name, prefix, last4, hash, scopes)
        values (${orgId}, ${apiKeyId}, ${userId}, ${'test'}, ${'atr_test_'}, ${key.slice(-4)}, ${hashKey(key)}, ${scopes})`)
    })
    return { orgId, userId, email, workspaceId, key, apiKeyId }
  }

  return {
    app,
    deps,
    db,
    config,
    connection,
    url,
    logLines,
    limitClock,
    call: callerOf(url),
    settled: () => settled(db),
    createOrg: async (name = 'Test org') => {
      const orgId = newId()
      const workspaceId = newId()
      await db.transaction('all orgs', async (db) => {
        await db.execute(sql`insert into orgs (id, name) values (${orgId}, ${name})`)
        await db.execute(sql`
          insert into workspaces (org_id, id, name, slug, is_default)
          values (${orgId}, ${workspaceId}, ${'Main'}, ${'main'}, true)`)
      })
      return addUser({ orgId, workspaceId, role: 'owner', inWorkspace: true, scopes: [] })
    },
    createUser: (of, role = 'member', options = {}) =>
      addUser({
        orgId: of.orgId,
        workspaceId: of.workspaceId,
        role,
        inWorkspace: options.inWorkspace ?? true,
        scopes: options.scopes ?? [],
      }),
    stepUp: async ({ userId }) => {
      const { token } = await db.transaction('all orgs', (db) => issueStepUpToken(db, userId, null))
      return { 'x-step-up-token': token }
    },
    secondServer: async (env = {}, options = {}) =>
      listen({ ...config, ...parseTestConfig(env, config.dataDir) }, shared, {
        work: isDeepStrictEqual(env, shared.env),
        ...options,
      }),
  }
}

// Rate limits are off by default, because a test file sends more requests per minute than a person.
const noRateLimits = Object.fromEntries(
  Object.keys(variables)
    .filter((name) => name.startsWith('RATE_LIMIT_'))
    .map((name) => [name, '0']),
)

const parseTestConfig = (env: Record<string, string>, dataDir: string): Config =>
  parseConfig({ NODE_ENV: 'test', PORT: '0', DATA_DIR: dataDir, ...noRateLimits, ...env })

/**
 * Starts a server on a new database for one test file. Call it at the top level of the file. Everything is stopped and
 * removed after the last test of the file.
 */
export const startTestApp = async (
  env: Record<string, string> = {},
  options: TestAppOptions = {},
): Promise<TestApp> => {
  const server = await sharedServer()
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-test-data-'))
  const database = await (options.createDatabase ?? cloneDatabase)(server.connection)
  const cleanUp: (() => Promise<void>)[] = []
  after(async () => {
    failWhenOpen()
    for (const step of cleanUp.toReversed()) {
      await step()
      failWhenOpen()
    }
    const checked = await Promise.allSettled([assertValidEvents(database.connection)])
    failWhenOpen()
    await database.drop()
    failWhenOpen()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
    // Last, because a failure here would prevent the rest of the cleanup.
    assertDocumented()
    for (const result of checked) if (result.status === 'rejected') throw result.reason
  })
  const shared = { env, connection: database.connection, cleanUp, limitClock: { ms: 1_000_000 } }
  return listen(parseTestConfig(env, dataDir), shared, options)
}
