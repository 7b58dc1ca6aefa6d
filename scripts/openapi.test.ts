import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { Type } from 'typebox'
import { createHttp } from '../src/platform/http/http.ts'
import type { App } from '../src/platform/http/http.ts'
import { createLog } from '../src/platform/process/log.ts'
import { IdParams, ListQuery, Nullable, Success } from '../src/platform/http/schemas.ts'
import { openApiText } from './generate.ts'
import { openApiOf } from './openapi.ts'
import type { OpenApi } from './openapi.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the tests walk through documents of every shape
type Any = any

const document = JSON.parse(await readFile(new URL('../docs/openapi.json', import.meta.url), 'utf8')) as OpenApi
const operations: [string, Any][] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Any] => [`${method} ${path}`, operation]),
)

describe('docs/openapi.json', () => {
  test('is the same however often it is made', async () => {
    assert.equal(await openApiText(), await openApiText())
  })

  test('every reference leads somewhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, path]) => path ?? '')
    assert.ok(references.length > 100)
    for (const reference of new Set(references)) {
      assert.ok(reference.startsWith('#/components/'), reference)
      const target = reference
        .slice(2)
        .split('/')
        .reduce((value: Any, key) => value?.[key], document)
      assert.ok(target, reference)
    }
  })

  test('every operation has a name of its own, a summary, a tag, a success, and its standard refusals', () => {
    assert.ok(operations.length > 40)
    const names = operations.map(([, operation]) => operation.operationId as string)
    assert.equal(new Set(names).size, names.length)
    for (const [name, { summary, tags, responses, security }] of operations) {
      assert.ok(summary.length > 5, name)
      assert.equal(tags.length, 1, name)
      assert.ok(
        Object.keys(responses).some((status) => /^[23]/.test(status)),
        name,
      )
      assert.ok(responses['500'], name)
      assert.ok(Array.isArray(security), name)
      if (security.length > 0) for (const status of ['401', '403', '429', '503']) assert.ok(responses[status], name)
    }
  })

  test('every path parameter of a path is described, and no other', () => {
    for (const [name, { parameters = [] }] of operations) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, one]) => one ?? '')
      const described = parameters.filter((one: Any) => one.in === 'path').map((one: Any) => one.name as string)
      assert.deepEqual(described.toSorted(), inPath.toSorted(), name)
    }
  })

  test('no query parameter with a default is required', () => {
    const withDefault = operations.flatMap(([, { parameters = [] }]) =>
      parameters.filter((one: Any) => one.in === 'query' && one.schema?.default !== undefined),
    )
    assert.ok(withDefault.length > 3)
    for (const one of withDefault) assert.equal(one.required, false, one.name)
  })
})

const withRoutes = async (register: (app: App) => void): Promise<OpenApi> => {
  const app = createHttp({ log: createLog('silent'), production: false, trustProxy: false })
  register(app)
  await app.ready()
  after(() => app.close())
  return openApiOf(app.routeTable)
}

describe('a document from routes', () => {
  test('says what each kind of route takes and refuses', async () => {
    const { paths } = await withRoutes((app) => {
      const response = { 200: Success(Type.Object({ id: Type.String(), color: Nullable(Type.String()) })) }
      const config = { access: 'files:write' } as const
      app.get(
        '/things',
        { config, schema: { tags: ['T'], summary: 'List things', querystring: ListQuery, response } },
        () => ({}) as never,
      )
      app.patch(
        '/things/:id',
        {
          config: {
            ...config,
            deprecated: { since: '2026-11-01', sunset: '2027-11-01' },
            errors: ['VALIDATION_ERROR'],
          },
          schema: {
            tags: ['T'],
            summary: 'Change a thing',
            description: 'Needs step-up.',
            params: IdParams,
            body: Type.Object({
              size: Type.Integer({ default: 1 }),
              color: Type.Union([Type.Literal('red'), Type.Literal('blue')]),
            }),
            response,
          },
        },
        () => ({}) as never,
      )
      app.get(
        '/page',
        { config: { access: 'public' }, schema: { hide: true, summary: 'A page', response: { 200: Type.String() } } },
        () => '',
      )
      app.post(
        '/hook',
        { config: { access: 'public', rateLimit: 'receive' }, schema: { tags: ['T'], summary: 'Receive', response } },
        () => ({}) as never,
      )
    })
    const get = paths['/things']?.['get'] as Any
    assert.equal(get.operationId, 'getThings')
    assert.deepEqual(Object.keys(get.responses), ['200', '400', '401', '403', '429', '500', '503'])
    assert.deepEqual(get.responses['200'].content['application/json'].schema.properties.data.properties.color, {
      type: ['string', 'null'],
    })
    assert.deepEqual(get.parameters.at(-1), { $ref: '#/components/parameters/WorkspaceId' })

    const patch = paths['/things/{id}']?.['patch'] as Any
    assert.equal(patch.operationId, 'patchThingsById')
    assert.equal(patch.deprecated, true)
    assert.equal(patch['x-sunset'], '2027-11-01')
    assert.deepEqual(Object.keys(patch.responses), [
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '422',
      '429',
      '500',
      '503',
    ])
    const body = patch.requestBody.content['application/json'].schema
    assert.deepEqual(body.required, ['color'])
    assert.deepEqual(body.properties.color, { type: 'string', enum: ['red', 'blue'] })
    const headers = patch.parameters.flatMap(({ $ref }: { $ref?: string }) => $ref?.split('/').at(-1) ?? [])
    assert.deepEqual(headers, ['WorkspaceId', 'IfMatch', 'StepUpToken'])

    assert.equal(paths['/page'], undefined)
    const hook = paths['/hook']?.['post'] as Any
    assert.deepEqual(hook.security, [])
    assert.deepEqual(Object.keys(hook.responses), ['200', '400', '429', '500'])
    assert.equal(hook.parameters, undefined)
  })

  test('is refused for a route that does not say what it is for', async () => {
    await assert.rejects(
      withRoutes((app) => app.get('/things', { config: { access: 'public' } }, () => ({}))),
      /GET \/things needs a summary/,
    )
  })
})
