import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { permissions } from '../../src/identity/permissions.ts'
import type { Permission } from '../../src/identity/permissions.ts'
import { eventTypes } from '../../src/outbox/catalog.ts'
import { newId } from '../../src/platform/ids.ts'
import { startTestApp } from '../harness.ts'
import type { Answer, CallOptions, TestActor } from '../harness.ts'
import { invalidData, recordedEvents } from '../support/database/recorded-events.ts'
import { inBackground, ofDecisions, samplesOf, withoutSuccess } from './event-samples.ts'
import type { Sample } from './event-samples.ts'
import { freeParams } from './resources.ts'
import { routesOf } from './route-list.ts'
import type { Route } from './route-list.ts'

const app = await startTestApp()
const routes = routesOf(app.app)
const changing = routes.filter(({ method }) => method !== 'GET')
const declaredBy = ({ options }: Route): readonly string[] => options.config?.events ?? []
/** Without those that can follow after the response. */
const requiredOf = (route: Route): string[] =>
  declaredBy(route).filter((type) => !inBackground.has(type) && ofDecisions[route.name]?.includes(type) !== true)

const send = (route: Route, { path, options }: Sample): Promise<Answer> => app.call(route.method, path, options)

/** The types of events that a request adds to the org, without those of work in the background. */
const addedBy = async (owner: TestActor, request: () => Promise<Answer>): Promise<[Answer, string[]]> => {
  const before = new Set((await recordedEvents(app.db, owner.orgId)).map(({ id }) => id))
  const answer = await request()
  const after = await recordedEvents(app.db, owner.orgId)
  const added = after.filter(({ id, type }) => !before.has(id) && !inBackground.has(type))
  return [answer, added.map(({ type }) => type)]
}

/** Whether the route remembers the response to an idempotency key. */
const isRepeatable = ({ method, access, options }: Route): boolean =>
  method === 'POST' && access !== 'public' && options.config?.idempotency !== false

const sendTwice = async (route: Route, owner: TestActor, sample: Sample): Promise<[Answer, string[]]> => {
  if (!isRepeatable(route)) return addedBy(owner, () => send(route, sample))
  const headers = { ...sample.options.headers, 'idempotency-key': newId() }
  const request = { ...sample, options: { ...sample.options, headers } }
  const first = await addedBy(owner, () => send(route, request))
  const [, again] = await addedBy(owner, () => send(route, request))
  assert.deepEqual(again, [], 'a repeated request records no event')
  return first
}

describe('the events of a request', () => {
  test('the sweep sends more than 60 requests that change something, of which more than 25 record events', () => {
    assert.ok(changing.length > 60, `${changing.length}`)
    assert.ok(changing.filter((route) => declaredBy(route).length > 0).length > 25)
    const names = new Set(changing.map(({ name }) => name))
    assert.deepEqual(
      Object.keys(withoutSuccess).filter((name) => !names.has(name)),
      [],
    )
  })

  for (const route of changing) {
    const declared = declaredBy(route)
    const reason = withoutSuccess[route.name]
    const title = reason === undefined ? 'records the events that it declares, each once' : `records nothing: ${reason}`
    test(`${route.name} ${title}`, async () => {
      const seen = new Set<string>()
      for (const makeSample of samplesOf(route)) {
        const owner = await app.createOrg()
        const [answer, added] = await sendTwice(route, owner, await makeSample(app, owner))
        if (reason !== undefined) {
          assert.ok(answer.status >= 400, `succeeds: remove it from withoutSuccess (${answer.status})`)
          assert.deepEqual(added, [])
          return
        }
        assert.ok(answer.status < 400, `${answer.status} ${answer.text}`)
        assert.deepEqual(
          added.filter((type) => !declared.includes(type)),
          [],
          'every recorded type is declared',
        )
        assert.equal(new Set(added).size, added.length, `each type once: ${added.join(', ')}`)
        assert.equal(
          added.length > 0,
          requiredOf(route).length > 0,
          'a route that declares events records at least one',
        )
        for (const type of added) seen.add(type)
      }
      assert.deepEqual([...seen].toSorted(), requiredOf(route).toSorted(), 'the samples cause every declared type')
    })
  }
})

describe('rejected requests', () => {
  /** Variants of a valid request that must be rejected. */
  const wrong = async (route: Route, owner: TestActor, { path, options }: Sample): Promise<[string, Sample][]> => {
    const { json: _json, body: _body, ...rest } = options
    const headers = { ...rest.headers, 'content-type': 'application/json' }
    // WebDAV stores every body, or has none.
    const takesAny = route.url.startsWith('/dav') && route.method !== 'LOCK'
    const found: [string, Sample][] = takesAny
      ? []
      : [['no valid body', { path, options: { ...rest, headers, body: '{"broken' } }]]
    if (options.as === undefined) return found
    const as = (actor: TestActor): CallOptions => ({ ...options, as: actor })
    if (route.params.some((name) => freeParams[name] === undefined)) {
      found.push(['a foreign id', { path, options: as(await app.createOrg()) }])
    }
    if (permissions.includes(route.access as Permission)) {
      const scope = route.access === 'audit:read' ? 'files:read' : 'audit:read'
      const limited = await app.createUser(owner, 'owner', { scopes: [scope] })
      found.push(['no permission', { path, options: as(limited) }])
    }
    if (route.method === 'PATCH' || route.method === 'DELETE') {
      const stale = { ...options.headers, 'if-match': '"no such version"' }
      found.push(['another version', { path, options: { ...options, headers: stale } }])
    }
    return found
  }

  for (const route of changing.filter((candidate) => declaredBy(candidate).length > 0)) {
    test(`${route.name} records no event when it rejects the body, the id, the caller or the version`, async () => {
      const owner = await app.createOrg()
      const [makeSample] = samplesOf(route)
      const sample = await makeSample!(app, owner)
      for (const [why, request] of await wrong(route, owner, sample)) {
        const [answer, added] = await addedBy(owner, () => send(route, request))
        assert.ok(answer.status >= 400, `${why}: ${answer.status}`)
        assert.deepEqual(added, [], why)
      }
    })
  }
})

describe('the catalog', () => {
  const types = Object.keys(eventTypes)

  test('a route declares types of the catalog only, and each type is declared by a route or happens in the background', () => {
    const declared = new Set(routes.flatMap(declaredBy))
    assert.deepEqual(
      [...declared].filter((type) => !types.includes(type)),
      [],
    )
    assert.deepEqual(
      types.filter((type) => !declared.has(type) && !inBackground.has(type)),
      [],
    )
  })

  test('the example of each type is valid, and data with another field is not', () => {
    for (const [type, { example }] of Object.entries(eventTypes)) {
      assert.equal(invalidData(type, example), undefined)
      assert.notEqual(invalidData(type, { ...example, unlisted: 1 }), undefined, type)
    }
  })

  test('the guide lists every type of the catalog, in its order', () => {
    const guide = readFileSync(new URL('../../docs/guides/events.md', import.meta.url), 'utf8')
    const table = /<!-- event types: [^>]*-->([\s\S]*?)<!-- \/event types -->/.exec(guide)?.[1] ?? ''
    assert.deepEqual(
      [...table.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, type]) => type),
      types,
    )
  })
})
