// A server with test routes, for tests of the features of every POST route.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Deps } from '../../src/deps.ts'
import { registerAuthentication } from '../../src/identity/authentication.ts'
import { createIdentity } from '../../src/identity/identity.ts'
import { sql } from '../../src/platform/database/database.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { badRequest, conflict, notFound, paymentRequired, validationError } from '../../src/platform/http/errors.ts'
import { createHttp } from '../../src/platform/http/http.ts'
import type { App } from '../../src/platform/http/http.ts'
import { registerIdempotency, sendReplay } from '../../src/platform/http/idempotency/idempotency.ts'

export const thingsTable = sql`create table things (n integer generated always as identity, name text not null)`

const insertThing = (db: Database, name: string) =>
  db.transaction('all orgs', (db) => db.row<{ n: number }>(sql`insert into things (name) values (${name}) returning n`))

const failures = {
  badRequest: () => badRequest('bad'),
  notFound: () => notFound('Thing'),
  conflict: () => conflict('taken'),
  paymentRequired: () => paymentRequired('too poor'),
  validation: () => validationError('makes no sense'),
  broken: () => new Error('broken'),
}

const Body = Type.Object({
  name: Type.String(),
  /** Fails before anything is written. */
  failWith: Type.Optional(Type.Enum(Object.keys(failures) as (keyof typeof failures)[])),
  /** Fails after the commit. */
  breakAfter: Type.Optional(Type.Boolean()),
  serialization: Type.Optional(Type.Boolean()),
})

const die = async (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise<never>(() => undefined)
}

export type Moment = 'before the work' | 'before the commit' | 'after the commit'

export interface ThingsOptions {
  /** The fault point at which POST /things kills its process. */
  dieWhen?: Moment | undefined
  /** Awaited by POST /things before it writes. */
  beforeWork?: (name: string) => Promise<void>
}

const registerThings = (app: App, { beforeWork, dieWhen }: ThingsOptions): void => {
  app.post(
    '/things',
    { config: { access: 'member', idempotency: { omit: ['data.secret', 'data.no.such'] } }, schema: { body: Body } },
    async (request, reply) => {
      const { name, failWith, breakAfter, serialization } = request.body
      await beforeWork?.(name)
      if (dieWhen === 'before the work') await die()
      if (failWith) throw failures[failWith]()
      if (serialization) {
        await request.db.execute(sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`)
      }
      if (dieWhen === 'before the commit') {
        await request.db.transaction('all orgs', async (db) => {
          await db.execute(sql`insert into things (name) values (${name})`)
          await die()
        })
      }
      const thing = await insertThing(request.db, name)
      if (dieWhen === 'after the commit') await die()
      if (breakAfter) throw new Error('broken')
      reply.code(201).header('location', `/things/${thing?.n}`).header('etag', '"1"')
      return { success: true, data: { n: thing?.n, name, secret: 'only once' } }
    },
  )
  app.post('/things/:id/touch', { config: { access: 'member' } }, async (request) => {
    const { id } = request.params as { id: string }
    await insertThing(request.db, `touched ${id}`)
    return { success: true, data: { id } }
  })
  app.post('/nothing', { config: { access: 'member' } }, async (_request, reply) => reply.code(204).send())
  app.post('/free', { config: { access: 'member', idempotency: false } }, async (request) =>
    insertThing(request.db, 'free'),
  )
  app.post('/public', { config: { access: 'public' } }, async (request) => insertThing(request.db, 'public'))
}

const registerStreams = (app: App): void => {
  app.post('/stream/:kind', { config: { access: 'member' } }, async (request, reply) => {
    const { kind } = request.params as { kind: string }
    await insertThing(request.db, kind)
    if (kind === 'told') await request.storeResponse(202, { success: true, data: { follow: 'the stream' } })
    return reply.header('content-type', 'text/event-stream').send(Readable.from(['data: 1\n\n', 'data: 2\n\n']))
  })
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
  app.post('/upload', { config: { access: 'member', idempotency: { streamed: true } } }, async (request, reply) => {
    const hash = createHash('sha256')
    for await (const chunk of request.body as Readable) hash.update(chunk as Buffer)
    if (request.query !== null && (request.query as { refuse?: string }).refuse) throw conflict('refused unread')
    const digest = hash.digest()
    await request.settleFingerprint(digest)
    if (request.replay) return sendReplay(reply, request.replay)
    await insertThing(request.db, digest.toString('hex'))
    return reply.code(201).send({ success: true, data: { hash: digest.toString('hex') } })
  })
}

/** Listens on a free port. Returns `http://127.0.0.1:<port>`. */
export const serveThings = async (deps: Deps, options: ThingsOptions = {}): Promise<{ app: App; url: string }> => {
  const { db, log } = deps
  const app = createHttp({ log, production: false, trustProxy: false, baseUrl: undefined })
  registerAuthentication(app, createIdentity(deps))
  registerIdempotency(app, { db, log, callerOf: ({ actor }) => actor })
  registerThings(app, options)
  registerStreams(app)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, url }
}
