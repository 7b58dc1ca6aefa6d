import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer } from '../../../test/harness.ts'
import { fixedBodies, malformedBody } from '../../../test/support/malformed-bodies.ts'
import { addEndpoint, bindLinear, senders } from '../../../test/support/endpoints.ts'
import type { TestEndpoint } from '../../../test/support/endpoints.ts'

const linearSecret = 'lin_wh_builtin'
// Without a worker, because these tests check responses only.
const app = await startTestApp({ LINEAR_WEBHOOK_SECRET: linearSecret }, { work: false })
const owner = await app.createOrg()

/** Linear's timestamp is in the signed body, so a body that is not an object is rejected as stale. */
const stamped = (body: string): string => {
  try {
    const value = JSON.parse(body) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? JSON.stringify({ ...value, webhookTimestamp: Date.now() })
      : body
  } catch {
    return body
  }
}

const sendLinear = (path: string, body: string, secret: string, headers: Record<string, string> = {}) => {
  const text = stamped(body)
  const signature = createHmac('sha256', secret).update(text).digest('hex')
  return app.call('POST', path, {
    body: text,
    headers: { 'content-type': 'application/json', 'linear-signature': signature, ...headers },
  })
}

const send = (provider: string, endpoint: TestEndpoint, body: string): Promise<Answer> => {
  const sender = senders[provider]!
  if (provider === 'linear') return sendLinear(endpoint.path, body, sender.secret)
  const signed = sender.sign(body, endpoint.url)
  return app.call('POST', endpoint.path, { body: signed.body, headers: signed.headers })
}

const genuine: Record<string, string> = {
  telegram: '{"update_id":1,"message":{"message_id":1,"chat":{"id":5},"from":{"first_name":"Ada"},"text":"Hi"}}',
  slack:
    '{"type":"event_callback","event_id":"Ev1","event":{"type":"message","channel":"C","user":"U","text":"Hi","ts":"1.000001"}}',
  discord: '{"id":"1","type":2,"token":"t","application_id":"2","channel_id":"3","data":{"name":"ask"}}',
  twilio: 'MessageSid=SM1&From=%2B1&To=%2B2&AccountSid=AC0000&Body=Hi',
  github:
    '{"action":"opened","issue":{"number":1,"title":"T"},"repository":{"full_name":"a/b"},"sender":{"login":"ada"}}',
  jira: '{"webhookEvent":"jira:issue_created","issue":{"key":"A-1"},"user":{"accountId":"1"}}',
  linear: '{"type":"Issue","action":"create","data":{"id":"i1","title":"T"},"organizationId":"o1"}',
  stripe: '{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1","object":"invoice"}}}',
}

for (const provider of Object.keys(senders)) {
  describe(`the connector endpoint of ${provider}`, () => {
    test(`the endpoint of ${provider} never responds with 5xx to a signed body, and still accepts a genuine event`, async () => {
      const endpoint = await addEndpoint(app, owner, provider)
      const check = async (body: string): Promise<void> => {
        const response = await send(provider, endpoint, body)
        assert.ok(response.status < 500, `${response.status} ${response.text} for ${body.slice(0, 500)}`)
      }
      for (const body of fixedBodies) await check(body)
      await fc.assert(fc.asyncProperty(malformedBody, check), { numRuns: 100 })
      assert.equal((await send(provider, endpoint, genuine[provider]!)).status, 200)
    })
  })
}

describe('the built-in Linear webhook', () => {
  test('the Linear route never responds with 5xx to a signed body', async () => {
    await bindLinear(app, owner, 'org-of-linear')
    const path = '/api/v1/webhooks/linear'
    const check = async (body: string): Promise<void> => {
      const response = await sendLinear(path, body, linearSecret, {
        'linear-delivery': body.replaceAll(/[^\w]/g, '').slice(0, 300),
      })
      assert.ok(response.status < 500, `${response.status} ${response.text} for ${body.slice(0, 500)}`)
    }
    for (const body of fixedBodies) await check(body)
    for (const organizationId of [
      '\0',
      '\ud800',
      'x'.repeat(50_000),
      5,
      null,
      ['org-of-linear'],
      { a: 1 },
      '__proto__',
    ]) {
      await check(JSON.stringify({ type: 'Issue', organizationId }))
      await check(JSON.stringify({ type: organizationId, organizationId: 'org-of-linear' }))
    }
    await fc.assert(fc.asyncProperty(malformedBody, check), { numRuns: 100 })
  })
})
