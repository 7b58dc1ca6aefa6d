import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { ApiError } from '../http/errors.ts'
import { generateKey } from '../key-format.ts'
import { createLog } from './log.ts'
import type { Log } from './log.ts'
import { withoutSecrets } from '../text/redact.ts'

const secret = 'planted-9f86d081884c7d65'

const logged = (write: (log: Log) => void): string => {
  const lines: string[] = []
  write(createLog('trace', { write: (line) => void lines.push(line) }))
  const text = lines.join('')
  assert.notEqual(text, '', 'something was logged')
  for (const line of lines) JSON.parse(line)
  return text
}

describe('the log', () => {
  const fields = [
    'authorization',
    'Authorization',
    'cookie',
    'set-cookie',
    'password',
    'newPassword',
    'secret',
    'clientSecret',
    'client_secret',
    'signingSecret',
    'token',
    'accessToken',
    'refresh_token',
    'idToken',
    'x-step-up-token',
    'apiKey',
    'api_key',
    'key',
    'privateKey',
    'totpCode',
    'credentials',
  ]
  for (const field of fields) {
    test(`the log redacts the field ${field} at every depth`, () => {
      let nested: unknown = { [field]: secret }
      for (let depth = 0; depth < 6; depth++) {
        const value = nested
        assert.ok(!logged((log) => log.info(value, 'message')).includes(secret), `${depth} levels`)
        nested = depth % 2 === 0 ? { inner: value } : { list: [value] }
      }
      const error = Object.assign(new Error('failed'), { [field]: secret, config: { headers: { [field]: secret } } })
      assert.ok(!logged((log) => log.error({ err: error }, 'message')).includes(secret))
      assert.ok(!logged((log) => log.error({ err: new Error('outside', { cause: error }) })).includes(secret))
    })
  }

  const freeText: [string, string][] = [
    ['an API key', generateKey('live')],
    ['an API key with a wrong checksum', `${generateKey('test').slice(0, -1)}0`],
    ['a webhook secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLSw1'],
    ['an Authorization header', `Authorization: Bearer ${secret}`],
    ['a basic Authorization header', `authorization: Basic ${secret}==`],
    ['the password of a database URL', `postgres://atrium:${secret}@db.example.com:5432/atrium`],
    ['the password of a Redis URL', `rediss://:${secret}@cache.example.com`],
    ['the token of a signed URL', `GET /api/v1/files/x/content?token=${secret}&download=true`],
    ['the signature of a presigned URL', `https://s3.example.com/b/k?X-Amz-Signature=${secret}&X-Amz-Expires=300`],
    ['the code of an OAuth callback', `/connections/oauth/callback?code=${secret}&state=${secret}`],
    ['a Stripe key', `sk_live_${secret.replaceAll('-', '')}`],
    ['a GitHub token', `ghp_${secret.replaceAll('-', '')}abcdefghij`],
    ['a Slack token', `xoxb-1234-${secret}`],
    ['JSON inside text', `body was {"password":"${secret}","x":{"apiKey":"${secret}"}}`],
    ['JSON inside JSON inside text', JSON.stringify(JSON.stringify({ client_secret: secret }))],
  ]
  for (const [what, text] of freeText) {
    test(`the log redacts ${what} in texts, errors and stacks`, () => {
      const parts = [secret, secret.replaceAll('-', ''), ...(text.match(/\b(?:atr|whsec)_\w+/g) ?? [])]
      const texts = [
        logged((log) => log.info(text)),
        logged((log) => log.info({ note: text }, 'message')),
        logged((log) => log.error({ err: new Error(text) })),
        logged((log) => log.error(new Error('outside', { cause: new ApiError('CONFLICT', text) }))),
        withoutSecrets(text),
      ]
      for (const shown of texts) for (const part of parts) assert.ok(!shown.includes(part), shown)
    })
  }

  test('the log does not change other values', () => {
    const line = JSON.parse(
      logged((log) =>
        log.warn(
          {
            requestId: 'r1',
            tokens: 5,
            inputTokens: 7,
            keyId: 'k1',
            tokenCount: 3,
            keyboard: 'us',
            url: 'https://example.com/a?page=2',
          },
          'the API key atr_live_… of 3 keys: token limit, password policy',
        ),
      ),
    )
    assert.deepEqual(
      { ...line, time: undefined },
      {
        level: 'warn',
        time: undefined,
        requestId: 'r1',
        tokens: 5,
        inputTokens: 7,
        keyId: 'k1',
        tokenCount: 3,
        keyboard: 'us',
        url: 'https://example.com/a?page=2',
        msg: 'the API key atr_live_… of 3 keys: token limit, password policy',
      },
    )
    assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('the log contains the message, code, stack and causes of an error, but not its connection or request', () => {
    const error = Object.assign(new pg.DatabaseError('duplicate key', 1, 'error'), {
      code: '23505',
      detail: `Key (hash)=(${secret}) already exists.`,
      client: { connectionParameters: { password: secret } },
    })
    const line = JSON.parse(logged((log) => log.error({ err: new Error('outside', { cause: error }) }, 'failed')))
    assert.equal(line.err.message, 'outside')
    assert.equal(line.err.cause.message, 'duplicate key')
    assert.equal(line.err.cause.code, '23505')
    assert.match(line.err.cause.stack, /log\.test\.ts/)
    assert.ok(!JSON.stringify(line).includes(secret))
  })

  test('the log accepts values that are not errors, are cyclic or throw', () => {
    const round: Record<string, unknown> = {}
    round['self'] = round
    const circular = new Error('round')
    circular.cause = circular
    for (const err of [undefined, null, 'text', 5, round, circular, new AggregateError([new Error('one')], 'all')]) {
      logged((log) => log.error({ err }, 'message'))
    }
  })

  test('a redacted line stays valid JSON without the secret, for arbitrary values', () => {
    const awkward = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', ',', 'a', '\n', ' ', 'é') })
    fc.assert(
      fc.property(fc.json(), awkward, awkward, fc.nat(3), (json, before, after, depth) => {
        let value: unknown = {
          first: JSON.parse(json),
          password: before + secret + after,
          last: [before, JSON.parse(json)],
        }
        for (let i = 0; i < depth; i++) value = { text: `${after}${JSON.stringify(value)}${before}` }
        const clean = withoutSecrets(JSON.stringify(value))
        JSON.parse(clean)
        assert.ok(!clean.includes(secret), clean)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a line without a secret is not changed', () => {
    const value = fc.object({
      key: fc.constantFrom('name', 'tokens', 'keys', 'id', 'passwordless'),
      values: [fc.string(), fc.integer(), fc.constant(null)],
    })
    fc.assert(
      fc.property(value, (fields) => {
        fc.pre(!JSON.stringify(fields).includes('://'))
        assert.equal(withoutSecrets(JSON.stringify(fields)), JSON.stringify(fields))
      }),
    )
  })

  test('redaction takes linear time for every line', () => {
    for (const line of [
      '"password":"'.repeat(20_000),
      `"token":"${'\\'.repeat(200_000)}`,
      'Bearer '.repeat(50_000),
      '://a:'.repeat(50_000),
    ]) {
      const began = process.cpuUsage()
      withoutSecrets(line)
      // A search that backtracks takes minutes here. Time of the processor, because others may use it, too.
      assert.ok(process.cpuUsage(began).user < 5_000_000)
    }
  })
})
