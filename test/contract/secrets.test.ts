import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createHash, randomUUID } from 'node:crypto'
import { sql } from '../../src/platform/database/database.ts'
import { generateKey, hashKey } from '../../src/platform/key-format.ts'
import { startTestApp } from '../harness.ts'
import type { Answer, CallOptions } from '../harness.ts'
import { bodies, factories, factoryOf, freeParams } from './resources.ts'
import { bodySchemaOf, pathOf, routesOf, sampleOf } from './route-list.ts'
import type { Route } from './route-list.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const routes = routesOf(app.app)
const stepUp = await app.stepUp(owner)

/** Secrets in requests and in the configuration, by the name that a failed assertion prints. */
const planted = new Map<string, string>()
const plant = (what: string, secret = `planted-${randomUUID()}`): string => {
  planted.set(what, secret)
  return secret
}

plant("the caller's API key", owner.key)
plant('its hash in hex', hashKey(owner.key).toString('hex'))
plant('its hash in base64', hashKey(owner.key).toString('base64'))
plant('the step-up token', stepUp['x-step-up-token'] ?? '')
plant(
  'the hash of the step-up token',
  createHash('sha256')
    .update(stepUp['x-step-up-token'] ?? '')
    .digest('hex'),
)

const params = new Map<string, Record<string, string>>()
for (const [path, make] of Object.entries(factories)) {
  const made = await make(app, owner)
  params.set(path, made.params)
  for (const secret of made.secrets ?? []) plant(`what making ${path} told once`, secret)
}

const assertClean = (where: string, text: string): void => {
  for (const [what, secret] of planted) assert.ok(!text.includes(secret), `${where} has ${what}`)
}

const everythingOf = ({ headers, text }: Answer): string => `${JSON.stringify([...headers])}\n${text}`

const call = async (route: Route, options: CallOptions = {}, query = ''): Promise<Answer> => {
  const own = params.get(factoryOf(route.url) ?? '') ?? {}
  const known = Object.fromEntries(route.params.map((name) => [name, own[name] ?? freeParams[name] ?? randomUUID()]))
  return app.call(route.method, pathOf(route.url, known) + query, options)
}

describe('secrets in responses and logs', () => {
  test('the test has created a secret of every kind that the server issues', () => {
    assert.ok(planted.size >= 6, [...planted.keys()].join(', '))
    for (const secret of planted.values()) assert.ok(secret.length > 20)
  })

  for (const route of routes.filter(({ method }) => method === 'GET')) {
    test(`${route.name} returns no secret with a valid key, without a key and with a wrong key`, async () => {
      const wrong = plant(`a wrong key at ${route.name}`, generateKey('test'))
      const answers = [
        await call(route, { as: owner, headers: stepUp }),
        await call(route),
        await call(route, { as: wrong }),
        await call(route, {
          as: owner,
          headers: { cookie: `atrium.session_token=${plant(`a cookie at ${route.name}`)}` },
        }),
      ]
      for (const answer of answers) {
        assert.ok(answer.status < 500, answer.text)
        assertClean(route.name, everythingOf(answer))
      }
    })
  }

  const withBody = routes.filter((route) => route.method !== 'GET' && route.method !== 'DELETE' && bodySchemaOf(route))
  for (const route of withBody) {
    test(`${route.name} returns no secret of the request, whether it accepts or rejects the request`, async () => {
      const schema = bodySchemaOf(route)
      const sample = (bodies[route.name] ?? sampleOf(schema ?? {})) as object
      const secret = plant(`a secret in the body of ${route.name}`)
      const hidden = { secret, password: secret, token: secret, apiKey: secret, credentials: { key: secret } }
      const headers = { ...stepUp, 'x-unknown': secret }
      const json = { 'content-type': 'application/json', ...headers }
      const secretFields = Object.keys(schema?.properties ?? {}).filter((name) =>
        /password|secret|token|key|code/i.test(name),
      )
      const asMeant = Object.fromEntries(secretFields.map((name) => [name, secret]))
      const answers = [
        await call(route, { as: owner, headers, json: { ...hidden, ...sample } }),
        await call(route, { as: owner, headers, json: { ...sample, ...asMeant } }),
        await call(route, {
          as: owner,
          headers,
          json: { ...sample, [Object.keys(schema?.properties ?? {})[0] ?? 'x']: { secret } },
        }),
        await call(route, { as: owner, headers: json, body: `{"secret":"${secret}` }),
        await call(route, { as: owner, headers: { ...headers, 'content-type': `text/${secret}` }, body: secret }),
        await call(route, {
          as: owner,
          headers: json,
          body: JSON.stringify({ __proto__x: 1 }).replace('__proto__x', `${secret}":1,"__proto__`),
        }),
      ]
      for (const answer of answers) {
        assert.ok(answer.status < 500, answer.text)
        const text = everythingOf(answer)
        assert.ok(!text.includes(secret), text)
      }
    })
  }

  test('no log line contains a secret, not even that of an internal error in a request with secrets', async () => {
    const secret = plant('the name in a statement that failed')
    await app.db.execute(sql`alter table projects rename to projects_gone`)
    try {
      const { status, text } = await app.call('POST', '/api/v1/projects', {
        as: owner,
        json: { name: secret, description: owner.key },
        headers: { ...stepUp, 'idempotency-key': randomUUID() },
      })
      assert.equal(status, 500)
      assertClean('the response', text)
    } finally {
      await app.db.execute(sql`alter table projects_gone rename to projects`)
    }
    const failures = app.logLines.filter((line) => line.includes('request failed'))
    assert.equal(failures.length, 1, 'the failure was logged')
    for (const line of app.logLines) assertClean('the log', line)
  })
})
