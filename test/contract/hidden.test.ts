import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../../src/platform/ids.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import { failureIn } from './dialects.ts'
import { bodies, factories, factoryOf, freeParams, inWorkspace } from './resources.ts'
import type { Resource } from './resources.ts'
import { bodySchemaOf, pathOf, routesOf, sampleOf } from './route-list.ts'
import type { Route } from './route-list.ts'

const app = await startTestApp()
const routes = routesOf(app.app).filter(
  ({ access, params }) => access !== 'public' && params.some((name) => freeParams[name] === undefined),
)

const make = (path: string, owner: TestActor): Promise<Resource> => {
  const factory = factories[path]
  if (!factory) throw new Error(`test/contract/resources.ts has no factory for ${path}`)
  return factory(app, owner)
}

const factoryPath = (route: Route): string => factoryOf(route.url) ?? route.url

/** Everything by which a caller can distinguish two responses. */
const visible = async (
  route: Route,
  as: TestActor,
  params: Record<string, string>,
  headers: Record<string, string>,
) => {
  const schema = bodySchemaOf(route)
  const json = bodies[route.name] ?? (schema === undefined ? undefined : sampleOf(schema))
  const answer = await app.call(route.method, pathOf(route.url, { ...freeParams, ...params }), {
    as,
    headers,
    ...(json === undefined ? {} : { json }),
  })
  const fields = [...answer.headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
  return { status: answer.status, text: answer.text, fields: JSON.stringify(fields) }
}

describe('resources of another org', () => {
  test('the tests request resources of another org on more than 20 routes, through every factory', () => {
    assert.ok(routes.length > 20)
    assert.deepEqual([...new Set(routes.map(factoryPath))].toSorted(), Object.keys(factories).toSorted())
  })

  for (const route of routes) {
    for (const param of route.params.filter((name) => freeParams[name] === undefined)) {
      test(`${route.name} returns the same bytes for another org's :${param}, a missing and a malformed one`, async () => {
        const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
        const path = factoryPath(route)
        const own = await make(path, owner)
        const foreign = await make(path, stranger)
        assert.ok((await own.exists()) && (await foreign.exists()), 'both are there')
        const headers = await app.stepUp(owner)
        const ask = (value: string) => visible(route, owner, { ...own.params, [param]: value }, headers)

        const missing = await ask(newId())
        assert.equal(missing.status, 404, missing.text)
        assert.equal(failureIn(route.url, missing).code, 'NOT_FOUND')
        if (route.url.startsWith('/api/v1/')) assert.match(missing.text, /"message":"[\w ]+ not found"\}\}$/)
        assert.deepEqual(await ask(foreign.params[param] as string), missing)

        const malformed = [
          'malformed',
          `${newId()}0`,
          '%',
          "'; drop table files--",
          newId().replaceAll('-', ''),
          `urn:uuid:${newId()}`,
          'x'.repeat(300),
        ]
        for (const value of [...malformed, '\0', '😀', `${newId()}\0`]) {
          const answer = await ask(value)
          if (route.options.config?.malformedId === 'BAD_REQUEST') assert.equal(answer.status, 400, value)
          else assert.deepEqual(answer, missing, JSON.stringify(value))
        }
        assert.ok(await foreign.exists(), 'untouched')
        assert.ok(await own.exists(), 'untouched')
      })
    }
  }
})

describe('resources of another workspace of the same org', () => {
  const bound = routes.filter((route) => inWorkspace.includes(factoryPath(route)))

  test('the tests request resources of another workspace on more than 8 routes', () => assert.ok(bound.length > 8))

  for (const route of bound) {
    test(`${route.name} returns the same bytes for a resource of a hidden workspace and a missing one`, async () => {
      const owner = await app.createOrg()
      const own = await make(factoryPath(route), owner)
      const member = await app.createUser(owner, 'member', { inWorkspace: false })
      const created = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Elsewhere' } })
      const elsewhere = created.body.data.id as string
      const added = await app.call('POST', `/api/v1/workspaces/${elsewhere}/members`, {
        as: owner,
        json: { userId: member.userId },
      })
      assert.ok(added.status < 300, added.text)
      const headers = { 'x-workspace-id': elsewhere }
      const missing = await visible(route, member, { ...own.params, id: newId() }, headers)
      assert.equal(missing.status, 404, missing.text)
      assert.deepEqual(await visible(route, member, own.params, headers), missing)
      assert.ok(await own.exists(), 'untouched')
    })
  }
})

describe('If-Match', () => {
  const changing = routes.filter(({ method }) => method === 'PATCH' || method === 'DELETE')

  test('the tests send If-Match on more than 15 routes', () => assert.ok(changing.length > 15))

  for (const route of changing) {
    test(`${route.name} rejects the If-Match of another version with CONFLICT and changes nothing`, async () => {
      const owner = await app.createOrg()
      const own = await make(factoryPath(route), owner)
      const headers = { ...(await app.stepUp(owner)), 'if-match': '"no such version"' }
      const answer = await visible(route, owner, own.params, headers)
      assert.equal(answer.status, 409, answer.text)
      assert.ok(await own.exists(), 'untouched')
    })
  }
})
