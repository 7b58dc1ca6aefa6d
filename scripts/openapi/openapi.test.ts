import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { Type } from 'typebox'
import { eventTypes } from '../../src/outbox/catalog.ts'
import { createHttp } from '../../src/platform/http/http.ts'
import type { App } from '../../src/platform/http/http.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { Id, IdParams, ListQuery, Nullable, Success, TimestampOf } from '../../src/platform/http/schemas.ts'
import { openApiText } from '../generate.ts'
import { openApiOf } from './openapi.ts'
import type { OpenApi } from './openapi.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the tests walk through documents of every shape
type Any = any

const document = JSON.parse(await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as OpenApi
const operations: [string, Any][] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Any] => [`${method} ${path}`, operation]),
)

const verbs = new Set(
  `Accept Add Bind Cancel Change Check Complete Confirm Create Decide Decline Delete Download Give Label List Receive Redeem
  Remove Rename Replay Restore Resume Retrieve Retry Revoke Rotate Send Set Share Sign Start Stream Submit Switch Turn Update Upload Verify
  Withdraw`.split(/\s+/),
)

interface Field {
  path: string
  /** Whether the field, or the component that it refers to, has a description. */
  isDescribed: boolean
  description: string
  schema: Any
}

/** Every parameter and every property of an object. */
const fieldsOf = ({ paths, components }: OpenApi): Field[] => {
  const isDescribed = ({ $ref, description, anyOf = [] }: Any): boolean =>
    [description, (components.schemas[$ref?.split('/').at(-1)] as Any)?.description].some(
      (text) => typeof text === 'string' && text.length > 3,
    ) || anyOf.some(isDescribed)
  const fieldOf = (path: string, field: Any): Field => {
    const schema = field.schema ?? field
    return { path, schema, isDescribed: isDescribed(field), description: field.description ?? schema.description ?? '' }
  }
  const fieldsIn = (value: Any, path: string): Field[] => {
    if (typeof value !== 'object' || value === null) return []
    return Object.entries<Any>(value).flatMap(([key, inner]) => {
      if (key === 'example' || key === 'examples' || key === 'default') return []
      const deeper = fieldsIn(inner, `${path}.${key}`)
      if (key === 'parameters' && Array.isArray(inner)) {
        const own = inner.filter(({ $ref }) => $ref === undefined)
        return [...deeper, ...own.map((one) => fieldOf(`${path} ${one.name}`, one))]
      }
      if (key !== 'properties') return deeper
      const properties = Object.entries<Any>(inner)
      return [
        ...properties.map(([name, one]) => fieldOf(`${path}.${name}`, one)),
        ...properties.flatMap(([name, one]) => fieldsIn(one, `${path}.${name}`)),
      ]
    })
  }
  return [...fieldsIn(paths, ''), ...fieldsIn(components.schemas, '')]
}

describe('docs/openapi.json', () => {
  test('the generator makes the same document each time', async () => {
    assert.equal(await openApiText(), await openApiText())
  })

  test('every reference in the document resolves to a component', () => {
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

  test('every operation has a unique ID, one tag, a success response and its standard errors', () => {
    assert.ok(operations.length > 100)
    const names = operations.map(([, operation]) => operation.operationId as string)
    assert.equal(new Set(names).size, names.length)
    for (const [name, { tags, responses, security }] of operations) {
      assert.equal(tags.length, 1, name)
      const statuses = Object.keys(responses)
      assert.ok(
        statuses.some((status) => /^[23]/.test(status)),
        name,
      )
      assert.ok(
        statuses.some((status) => status.startsWith('4')),
        name,
      )
      assert.ok(responses['500'], name)
      assert.ok(Array.isArray(security), name)
      if (security.length > 0) for (const status of ['401', '403', '429', '503']) assert.ok(responses[status], name)
    }
  })

  test('every summary begins with a verb, is short and in sentence case, and has no full stop', () => {
    for (const [name, { summary }] of operations) {
      const [first = '', ...others] = (summary as string).split(' ')
      assert.ok(verbs.has(first), `${name}: ${summary}`)
      assert.ok(summary.length <= 60 && !summary.endsWith('.'), `${name}: ${summary}`)
      for (const word of others) assert.match(word, /^([a-z(]|[A-Z]{2,}|Linear$|Stripe$|OAuth$)/, `${name}: ${summary}`)
    }
    const summaries = operations.map(([, { summary }]) => summary as string)
    assert.equal(new Set(summaries).size, summaries.length)
  })

  test('every description is in whole sentences and states who may call the operation', () => {
    for (const [name, { description }] of operations) {
      const [text = '', who = '', ...rest] = (description as string).split('\n\n')
      assert.match(text, /^[A-Z][\s\S]{20,}\.$/, name)
      assert.match(
        who,
        /^Requires (the permission `[a-z]+:[a-z]+`|no API key|an API key or a session, but no permission|a `token`, or the permission `[a-z]+:[a-z]+`)\.$/,
      )
      assert.deepEqual(rest, [], name)
    }
  })

  test('the description of every field with a limit states the limit', () => {
    let count = 0
    for (const { path, description, schema } of fieldsOf(document)) {
      const { minimum = 0, minLength = 0, minItems = 0, maximum, maxLength, maxItems } = schema
      const lowest = [minimum, minLength, minItems].filter((limit) => limit > 1)
      for (const limit of [...lowest, maximum, maxLength, maxItems].filter((one) => one !== undefined)) {
        const text = limit.toLocaleString('en-US') as string
        assert.ok(description.includes(text), `${path} must state the limit ${text}: ${description}`)
        count += 1
      }
    }
    assert.ok(count > 100, `only ${count} limits`)
  })

  test('every tag of an operation has a description', () => {
    const described = new Map((document['tags'] as Any[]).map((one) => [one.name, one.description]))
    for (const [name, { tags }] of operations) assert.match(described.get(tags[0]) ?? '', /\.$/, name)
  })

  test('every request and every successful response with a body has an example that its schema allows', () => {
    const ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }))
    ajv.addSchema({ $id: 'document', components: document.components })
    let count = 0
    for (const [name, { requestBody, responses }] of operations) {
      const successes = Object.entries(responses as Record<string, Any>).filter(([status]) => status.startsWith('2'))
      for (const body of [requestBody, ...successes.map(([, response]) => response)]) {
        for (const [type, { schema, example }] of Object.entries<Any>(body?.content ?? {})) {
          if (type === 'multipart/form-data' || /^(?:application\/(?:octet-stream|zip)|image\/)/.test(type)) continue
          assert.notEqual(example, undefined, `${name} has no example of ${type}`)
          const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object)
          assert.ok(validate(example), `${name}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(example)}`)
          count += 1
        }
      }
    }
    assert.ok(count > 150, `only ${count} examples`)
  })

  test('every event type is a webhook with a signed request, and an example that its schema allows', () => {
    const ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }))
    ajv.addSchema({ $id: 'document', components: document.components })
    assert.deepEqual(Object.keys(document.webhooks), Object.keys(eventTypes).toSorted())
    for (const [type, { post }] of Object.entries<Any>(document.webhooks)) {
      const { schema, example } = post.requestBody.content['application/json'] as { schema: object; example: Any }
      const validate = ajv.compile<Any>(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object)
      assert.ok(validate(example), `${type}: ${ajv.errorsText(validate.errors)}`)
      assert.equal(example.type, type)
      assert.equal(validate({ ...example, type: 'other' }), false, type)
      assert.ok(post.parameters.some(({ name }: Any) => name === 'webhook-signature'))
    }
    const { expanded } = (document.webhooks['webhook.event.received'] as Any).post.requestBody.content[
      'application/json'
    ].example
    assert.deepEqual(Object.keys(expanded), ['externalId', 'headers', 'contentType', 'payload'])
  })

  test('at least 95 % of the fields have a description', (t) => {
    const fields = fieldsOf(document)
    const undescribed = fields.filter(({ isDescribed }) => !isDescribed).map(({ path }) => path)
    const share = (100 * (fields.length - undescribed.length)) / fields.length
    t.diagnostic(`${share.toFixed(1)} % of ${fields.length} fields have a description`)
    assert.ok(fields.length > 1_000, `only ${fields.length} fields`)
    assert.ok(share >= 95, `${share.toFixed(1)} % of the fields have a description. Missing: ${undescribed.join(', ')}`)
  })

  test('operations that answer with JSON or events, as the client asks, declare both', () => {
    for (const name of [
      'post /api/v1/sessions/{id}/messages',
      'post /api/openai/v1/chat/completions',
      'post /api/openai/v1/responses',
      'post /a2a/{agent}',
      'post /mcp',
    ]) {
      const [, operation] = operations.find(([one]) => one === name) ?? []
      const { content } = operation.responses['200']
      assert.deepEqual(Object.keys(content), ['application/json', 'text/event-stream'], name)
    }
  })

  test('every array says what its items are, nullable ones too, because client generators reject others', () => {
    const typesOf = ({ type }: Any): unknown[] => [type].flat()
    const arrays = JSON.stringify(document, (_key, value: Any) => {
      const isArray = typeof value === 'object' && value !== null && typesOf(value).includes('array')
      if (isArray) assert.ok(value.items, JSON.stringify(value))
      return value
    })
    assert.ok(arrays.includes('"items"'))
  })

  test('the path parameters of an operation are those of its path', () => {
    for (const [name, { parameters = [] }] of operations) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, one]) => one ?? '')
      const described = parameters.filter((one: Any) => one.in === 'path').map((one: Any) => one.name as string)
      assert.deepEqual(described.toSorted(), inPath.toSorted(), name)
    }
  })

  test('query parameters with a default are optional', () => {
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

describe('openApiOf', () => {
  test('a document from routes has the parameters and errors of each kind of route', async () => {
    const { paths } = await withRoutes((app) => {
      const examples = ['red']
      const description = 'Does something.'
      const response = {
        200: Success(Type.Object({ id: Type.String({ examples }), color: Nullable(Type.String({ examples })) })),
      }
      const config = { access: 'files:write' } as const
      app.get(
        '/things',
        { config, schema: { tags: ['T'], summary: 'List things', description, querystring: ListQuery, response } },
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
            description: 'Requires step-up.',
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
        {
          config: { access: 'public', rateLimit: 'receive' },
          schema: { tags: ['T'], summary: 'Receive', description, response },
        },
        () => ({}) as never,
      )
    })
    const get = paths['/things']?.['get'] as Any
    assert.equal(get.operationId, 'getThings')
    assert.deepEqual(Object.keys(get.responses), ['200', '400', '401', '403', '429', '500', '503'])
    assert.deepEqual(get.responses['200'].content['application/json'].schema.properties.data.properties.color, {
      type: ['string', 'null'],
      examples: ['red'],
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

  test('rejects a route without a summary', async () => {
    await assert.rejects(
      withRoutes((app) => app.get('/things', { config: { access: 'public' } }, () => ({}))),
      /GET \/things needs a summary/,
    )
  })

  test('composes examples from the fields, with the same ID for the same resource', async () => {
    const Thing = Type.Object({
      id: Id,
      name: Type.String({ examples: ['Lamp'] }),
      size: Type.Enum(['small', 'large']),
      parts: Type.Array(Type.Object({ thingId: Id, count: Type.Integer({ minimum: 1 }) })),
      sold: Nullable(TimestampOf('Time of sale.', null)),
    })
    const { paths } = await withRoutes((app) =>
      app.get(
        '/thing',
        {
          config: { access: 'public' },
          schema: {
            tags: ['T'],
            summary: 'Get',
            description: 'Gets.',
            response: { 200: Type.Object({ thing: Thing }) },
          },
        },
        () => ({}) as never,
      ),
    )
    const get = paths['/thing']?.['get'] as Any
    const { thing } = get.responses['200'].content['application/json'].example
    assert.deepEqual(thing, {
      id: thing.id,
      name: 'Lamp',
      size: 'small',
      parts: [{ thingId: thing.id, count: 1 }],
      sold: null,
    })
    assert.match(thing.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  })

  test('rejects a text field without an example', async () => {
    await assert.rejects(
      withRoutes((app) =>
        app.get(
          '/thing',
          {
            config: { access: 'public' },
            schema: {
              tags: ['T'],
              summary: 'Get',
              description: 'Gets.',
              response: { 200: Type.Object({ name: Type.String() }) },
            },
          },
          () => ({}) as never,
        ),
      ),
      /getThing\.name needs an example/,
    )
  })
})
