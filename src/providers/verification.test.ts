import assert from 'node:assert/strict'
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { sha256 } from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import {
  signStandardWebhook,
  standardKey,
  standardSecret,
  verifyStandardWebhook,
} from '../platform/signatures/standard-webhooks.ts'
import { discordKey, verifyDiscord } from './discord.ts'
import { verifyGithub } from './github.ts'
import { verifyGitlab } from './gitlab.ts'
import { verifyHmac } from './hmac.ts'
import { verifyJira } from './jira.ts'
import { verifyLinear } from './linear.ts'
import { verifyShopify } from './shopify.ts'
import { verifySlack } from './slack.ts'
import { verifyStripe } from './stripe.ts'
import { verifyTelegram } from './telegram.ts'
import { verifyToken } from './token.ts'
import { verifyTwilio } from './twilio.ts'

const nowMs = Date.UTC(2026, 10, 21, 12)
const nowS = nowMs / 1_000
const secret = 'a-secret-of-the-provider'

interface Message {
  headers: Record<string, string>
  body: Buffer
}

interface Scheme {
  /** A valid request with the timestamp `stampS` in seconds. */
  make(body: Buffer, stampS?: number, key?: string): Message
  verify(request: SignedRequest, key?: string): SignatureVerdict
  signatureHeader: string
  /** The accepted deviation of the timestamp in seconds; undefined for schemes without a timestamp. */
  toleranceS?: number
  /** It authenticates the sender and not the body. */
  tokenOnly?: boolean
}

const mac = (algorithm: string, key: string | Buffer, ...parts: (string | Buffer)[]) => {
  const hmac = createHmac(algorithm, key)
  for (const part of parts) hmac.update(part)
  return hmac
}

const hub = (header: string, verify: (request: SignedRequest, key: string) => SignatureVerdict): Scheme => ({
  make: (body, _stamp, key = secret) => ({
    headers: { [header]: `sha256=${mac('sha256', key, body).digest('hex')}` },
    body,
  }),
  verify: (request, key = secret) => verify(request, key),
  signatureHeader: header,
})

const shared = (header: string, verify: (request: SignedRequest, key: string) => SignatureVerdict): Scheme => ({
  make: (body, _stamp, key = secret) => ({ headers: { [header]: key }, body }),
  verify: (request, key = secret) => verify(request, key),
  signatureHeader: header,
  tokenOnly: true,
})

const standardKeyOf = (key: string): Buffer => createHash('sha256').update(key).digest()
const discordPairs = new Map<string, { publicKey: KeyObject; privateKey: KeyObject }>()
const discordPair = (key: string) => {
  const pair = discordPairs.get(key) ?? generateKeyPairSync('ed25519')
  discordPairs.set(key, pair)
  return pair
}
const discordPublicKey = (key: string): string =>
  Buffer.from(discordPair(key).publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')
const twilioUrl = 'https://atrium.example.com/receive?a=1'

const svixHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]))

const schemes: Record<string, Scheme> = {
  'Standard Webhooks': {
    make: (body, stamp = nowS, key = secret) => ({
      headers: signStandardWebhook(standardKeyOf(key), 'evt_1', body, stamp * 1_000),
      body,
    }),
    verify: (request, key = secret) => verifyStandardWebhook(request, standardKeyOf(key)),
    signatureHeader: 'webhook-signature',
    toleranceS: 300,
  },
  Svix: {
    make: (body, stamp = nowS, key = secret) => ({
      headers: svixHeaders(signStandardWebhook(standardKeyOf(key), 'evt_1', body, stamp * 1_000)),
      body,
    }),
    verify: (request, key = secret) => verifyStandardWebhook(request, standardKeyOf(key)),
    signatureHeader: 'svix-signature',
    toleranceS: 300,
  },
  GitHub: hub('x-hub-signature-256', verifyGithub),
  Jira: hub('x-hub-signature', verifyJira),
  'the plain HMAC': hub('x-signature-256', verifyHmac),
  'the plain token': shared('x-webhook-token', (request, key) => verifyToken(request, sha256(key))),
  Telegram: shared('x-telegram-bot-api-secret-token', verifyTelegram),
  "GitLab's token": shared('x-gitlab-token', verifyGitlab),
  "GitLab's signature": {
    make: (body, stamp = nowS, key = secret) => ({
      headers: signStandardWebhook(standardKeyOf(key), 'evt_1', body, stamp * 1_000),
      body,
    }),
    verify: (request, key = secret) => verifyGitlab(request, standardSecret(standardKeyOf(key))),
    signatureHeader: 'webhook-signature',
    toleranceS: 300,
  },
  Stripe: {
    make: (body, stamp = nowS, key = secret) => ({
      headers: { 'stripe-signature': `t=${stamp},v1=${mac('sha256', key, `${stamp}.`, body).digest('hex')}` },
      body,
    }),
    verify: (request, key = secret) => verifyStripe(request, key),
    signatureHeader: 'stripe-signature',
    toleranceS: 300,
  },
  Slack: {
    make: (body, stamp = nowS, key = secret) => ({
      headers: {
        'x-slack-request-timestamp': String(stamp),
        'x-slack-signature': `v0=${mac('sha256', key, `v0:${stamp}:`, body).digest('hex')}`,
      },
      body,
    }),
    verify: (request, key = secret) => verifySlack(request, key),
    signatureHeader: 'x-slack-signature',
    toleranceS: 300,
  },
  Shopify: {
    make: (body, _stamp, key = secret) => ({
      headers: { 'x-shopify-hmac-sha256': mac('sha256', key, body).digest('base64') },
      body,
    }),
    verify: (request, key = secret) => verifyShopify(request, key),
    signatureHeader: 'x-shopify-hmac-sha256',
  },
  Linear: {
    make: (body, stamp = nowS, key = secret) => {
      const stamped = Buffer.from(
        JSON.stringify({ text: body.toString('base64'), webhookTimestamp: Math.round(stamp * 1_000) }),
      )
      return { headers: { 'linear-signature': mac('sha256', key, stamped).digest('hex') }, body: stamped }
    },
    verify: (request, key = secret) => verifyLinear(request, key),
    signatureHeader: 'linear-signature',
    toleranceS: 60,
  },
  'Twilio with a form': {
    make: (body, _stamp, key = secret) => {
      const text = body.toString('base64')
      return {
        headers: {
          'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
          'x-twilio-signature': mac('sha1', key, twilioUrl, `Body${text}`).digest('base64'),
        },
        body: Buffer.from(new URLSearchParams({ Body: text }).toString()),
      }
    },
    verify: (request, key = secret) => verifyTwilio({ ...request, url: twilioUrl }, key),
    signatureHeader: 'x-twilio-signature',
  },
  Discord: {
    make: (body, stamp = nowS, key = secret) => ({
      headers: {
        'x-signature-timestamp': String(stamp),
        'x-signature-ed25519': sign(
          null,
          Buffer.concat([Buffer.from(String(stamp)), body]),
          discordPair(key).privateKey,
        ).toString('hex'),
      },
      body,
    }),
    verify: (request, key = secret) => verifyDiscord(request, discordKey(discordPublicKey(key))!),
    signatureHeader: 'x-signature-ed25519',
    toleranceS: 300,
  },
}

const body = Buffer.from('{"type":"invoice.paid","amount":4200,"note":"für Zoë 🎉"}')
const at = (message: Message, now = nowMs): SignedRequest => ({ ...message, nowMs: now })
const reasonOf = (verdict: SignatureVerdict): string =>
  verdict.valid ? assert.fail('it was accepted') : verdict.reason

for (const [name, scheme] of Object.entries(schemes)) {
  const { make, verify, signatureHeader } = scheme
  const withSignature = (value: string | string[]): SignedRequest => {
    const message = make(body)
    return { ...message, headers: { ...message.headers, [signatureHeader]: value }, nowMs }
  }
  const signature = (): string => make(body).headers[signatureHeader]!

  describe(name, () => {
    test(`${name}: accepts any bytes that were signed with the secret`, () => {
      for (const one of [body, Buffer.alloc(0), Buffer.from([0, 255, 128, 13, 10]), Buffer.alloc(1_000_000, 'x')]) {
        assert.equal(verify(at(make(one))).valid, true)
      }
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => verify(at(make(Buffer.from(bytes)))).valid),
        { numRuns: 50 },
      )
    })

    test(`${name}: rejects a signature of another secret, and does not reveal the secret in the reason`, () => {
      const reason = reasonOf(verify(at(make(body, nowS, 'another-secret-altogether'))))
      assert.doesNotMatch(reason, /a-secret|another-secret/)
    })

    test(`${name}: names a missing or empty header in the reason`, () => {
      for (const header of Object.keys(make(body).headers).filter((one) => one !== 'content-type')) {
        for (const value of [undefined, '']) {
          const message = make(body)
          const verdict = verify({ ...message, headers: { ...message.headers, [header]: value }, nowMs })
          assert.match(reasonOf(verdict), /is missing/)
          assert.ok(
            reasonOf(verdict)
              .toLowerCase()
              .includes(name === "GitLab's signature" ? '' : header),
          )
        }
      }
    })

    test(`${name}: rejects a signature that is truncated, extended, doubled, padded, not ASCII or another text`, () => {
      const right = signature()
      for (const value of [
        right.slice(0, -1),
        right.slice(0, -8),
        right.slice(1),
        `${right}0`,
        `${right}${right}`,
        `${right}=`,
        `é${right.slice(1)}`,
        right.replaceAll(/[0-9a-f]/g, '٣'),
        right.slice(0, -1) + String.fromCharCode(right.charCodeAt(right.length - 1) + 256),
        'x'.repeat(100_000),
        '\u0000',
        '=',
        ',',
      ]) {
        assert.equal(verify(withSignature(value)).valid, false, value.slice(0, 80))
      }
    })

    test(`${name}: verifies a repeated header as one joined value`, () => {
      const wrong = make(body, nowS, 'another-secret-altogether').headers[signatureHeader]!
      assert.equal(verify(withSignature([wrong, wrong])).valid, false)
      const joined = `${signature()}, ${signature()}`
      assert.deepEqual(verify(withSignature([signature(), signature()])), verify(withSignature(joined)))
    })

    if (scheme.tokenOnly !== true) {
      test(`${name}: rejects a body with an altered, added or removed byte`, () => {
        const message = make(body)
        for (const altered of [
          Buffer.concat([message.body, Buffer.from(' ')]),
          message.body.subarray(0, -1),
          Buffer.from(message.body.toString('latin1').replace(/[0-9a-z](?=[^0-9a-z]*$)/i, '~'), 'latin1'),
          Buffer.alloc(0),
        ]) {
          assert.equal(verify({ ...message, body: altered, nowMs }).valid, false)
        }
      })
    }

    if (scheme.toleranceS !== undefined) {
      const { toleranceS } = scheme
      test(`${name}: accepts a timestamp that is off by at most ${toleranceS} s, and states the deviation in the reason`, () => {
        const message = make(body)
        assert.equal(verify(at(message, nowMs + toleranceS * 1_000)).valid, true)
        assert.equal(verify(at(message, nowMs - toleranceS * 1_000)).valid, true)
        const late = reasonOf(verify(at(message, nowMs + (toleranceS + 7) * 1_000)))
        assert.match(late, new RegExp(`${toleranceS + 7} s old`))
        assert.match(reasonOf(verify(at(message, nowMs - (toleranceS + 7) * 1_000))), /in the future/)
      })
    }
  })
}

for (const [name, header] of [
  ['Standard Webhooks', 'webhook-timestamp'],
  ['Svix', 'svix-timestamp'],
  ['Slack', 'x-slack-request-timestamp'],
  ['Discord', 'x-signature-timestamp'],
] as const) {
  test(`${name}: rejects an altered or malformed timestamp`, () => {
    const scheme = schemes[name]!
    const message = scheme.make(body)
    for (const value of [
      String(nowS + 1),
      ` ${nowS}`,
      `+${nowS}`,
      `${nowS}.0`,
      `0x1`,
      '1e9',
      'now',
      `${nowS}${nowS}`,
    ]) {
      assert.equal(scheme.verify({ ...message, headers: { ...message.headers, [header]: value }, nowMs }).valid, false)
    }
  })
}

describe('published test vectors', () => {
  test('Standard Webhooks: matches the test vectors of the specification and of Svix', () => {
    const vectors = [
      {
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        stamp: 1_614_265_330,
        body: '{"test": 2432232314}',
        signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      {
        secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
        id: 'msg_loFOjxBNrRLzqYUf',
        stamp: 1_731_705_121,
        body: '{"event_type":"ping","data":{"success":true}}',
        signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
      },
    ]
    for (const { secret, id, stamp, body, signature } of vectors) {
      // The secret of Svix's example is shorter than the specification requires.
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(stamp), 'webhook-signature': signature }
      const request = { headers, body: Buffer.from(body), nowMs: stamp * 1_000 }
      assert.deepEqual(verifyStandardWebhook(request, key), { valid: true })
      assert.deepEqual(signStandardWebhook(key, id, Buffer.from(body), stamp * 1_000), headers)
    }
  })

  test('GitHub: matches the published test vector', () => {
    const headers = { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' }
    const request = { headers, body: Buffer.from('Hello, World!'), nowMs }
    assert.deepEqual(verifyGithub(request, "It's a Secret to Everybody"), { valid: true })
  })

  test('Slack: matches the published test vector', () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    }
    const request = { headers, body: Buffer.from(body), nowMs: 1_531_420_618_000 }
    assert.deepEqual(verifySlack(request, '8f742231b10e8888abcd99yyyzzz85a5'), { valid: true })
  })

  test('Twilio: matches the published test vector', () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': '0/KCTR6DLpKmkAf8muzZqo1nDgQ=',
    }
    const form = {
      CallSid: 'CA1234567890ABCDE',
      From: '+12349013030',
      To: '+18005551212',
      Caller: '+12349013030',
      Digits: '1234',
    }
    const url = 'https://mycompany.com/myapp.php?foo=1&bar=2'
    const request = { headers, body: Buffer.from(new URLSearchParams(form).toString()), nowMs, url }
    assert.deepEqual(verifyTwilio(request, '12345'), { valid: true })
    assert.equal(verifyTwilio({ ...request, url: `${url}3` }, '12345').valid, false)
  })
})

describe('Standard Webhooks', () => {
  const key = Buffer.alloc(32, 7)

  test('Standard Webhooks: is compatible with the official library in both directions', () => {
    const headers = signStandardWebhook(key, 'evt_1', body, Date.now())
    assert.deepEqual(new Webhook(standardSecret(key)).verify(body, headers), JSON.parse(body.toString()))
    const now = new Date()
    const theirs = new Webhook(standardSecret(key)).sign('evt_1', now, body.toString())
    const request = {
      headers: {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': theirs,
      },
      body,
      nowMs: now.getTime(),
    }
    assert.deepEqual(verifyStandardWebhook(request, key), { valid: true })
  })

  test('Standard Webhooks: is compatible with the library of Svix in both directions, with its header names', () => {
    const headers = svixHeaders(signStandardWebhook(key, 'evt_1', body, Date.now()))
    assert.doesNotThrow(() => new SvixWebhook(standardSecret(key)).verify(body, headers))
    const now = new Date()
    const request = {
      headers: {
        'svix-id': 'evt_1',
        'svix-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'svix-signature': new SvixWebhook(standardSecret(key)).sign('evt_1', now, body.toString()),
      },
      body,
      nowMs: now.getTime(),
    }
    assert.deepEqual(verifyStandardWebhook(request, key), { valid: true })
  })

  test('Standard Webhooks: never combines headers of both spellings', () => {
    const { headers: standard } = schemes['Standard Webhooks']!.make(body)
    const svix = svixHeaders(standard)
    const verify = (headers: Record<string, string>) =>
      verifyStandardWebhook({ headers, body, nowMs }, standardKeyOf(secret))
    const reasonFor = (headers: Record<string, string>) => reasonOf(verify(headers))
    for (const part of ['id', 'timestamp', 'signature']) {
      const { [`webhook-${part}`]: _, ...withoutOne } = standard
      const mixed = { ...withoutOne, [`svix-${part}`]: svix[`svix-${part}`]! }
      assert.match(reasonFor(mixed), /^The header (webhook|svix)-(id|timestamp) is missing\.$/, part)
    }
    assert.equal(verify({ ...svix, ...standard }).valid, true)
    assert.equal(verify({ ...svix, ...standard, 'svix-id': 'evt_2', 'svix-signature': 'v1,x' }).valid, true)
    assert.equal(verify({ ...svix, ...standard, 'webhook-id': 'evt_2' }).valid, false)
    assert.equal(verify({ ...svix, 'webhook-id': 'evt_2' }).valid, true, 'the signature of Svix covers svix-id only')
  })

  test('Standard Webhooks: accepts one valid signature among others, and no other version', () => {
    const { headers } = schemes['Standard Webhooks']!.make(body)
    const right = headers['webhook-signature']!
    const with_ = (value: string) =>
      verifyStandardWebhook({ headers: { ...headers, 'webhook-signature': value }, body, nowMs }, standardKeyOf(secret))
        .valid
    assert.equal(with_(`v1,${Buffer.alloc(32).toString('base64')} v1a,xxxx ${right}`), true)
    assert.equal(with_(right.replace('v1,', 'v2,')), false)
    assert.equal(with_(right.replace('v1,', 'v1a,')), false)
    assert.equal(with_(right.replace('v1,', '')), false)
  })

  test('Standard Webhooks: accepts only secrets of whsec_ and the base64 of 24 to 64 bytes', () => {
    for (const length of [24, 32, 64]) assert.equal(standardKey(standardSecret(Buffer.alloc(length)))?.length, length)
    const encoded = Buffer.alloc(32).toString('base64')
    for (const text of [
      standardSecret(Buffer.alloc(23)),
      standardSecret(Buffer.alloc(65)),
      encoded,
      'whsec_',
      `whsec_${encoded} `,
      'whsec_ä',
    ]) {
      assert.equal(standardKey(text), undefined, text)
    }
  })
})

describe('Stripe', () => {
  const scheme = schemes['Stripe']!
  const header = scheme.make(body).headers['stripe-signature']!
  const verify = (value: string) => verifyStripe({ headers: { 'stripe-signature': value }, body, nowMs }, secret).valid

  test("Stripe: accepts what Stripe's library signs, and the library accepts what the test signs", () => {
    const payload = body.toString()
    const theirs = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: nowS })
    assert.equal(verify(theirs), true)
    const ours = scheme.make(body, Math.floor(Date.now() / 1_000)).headers['stripe-signature']!
    assert.deepEqual(Stripe.webhooks.constructEvent(payload, ours, secret), JSON.parse(payload))
  })

  test('Stripe: accepts any of several v1 signatures during a rotation, and never v0', () => {
    const [stamp, right] = header.split(',') as [string, string]
    assert.equal(verify(`${stamp},v1=${'0'.repeat(64)},${right},v0=00`), true)
    assert.equal(verify(`${stamp}, ${right}`), true)
    assert.equal(verify(`${stamp},${right.replace('v1', 'v0')}`), false)
    assert.equal(verify(right), false)
  })

  test('Stripe: rejects a header with two timestamps', () => {
    assert.equal(verify(`t=1,${header}`), false)
    assert.equal(verify(`${header},t=${nowS}`), false)
  })

  test('Stripe: uses the whole secret including whsec_ as the key', () => {
    const whole = standardSecret(Buffer.alloc(32, 1))
    assert.equal(verifyStripe(at(scheme.make(body, nowS, whole)), whole).valid, true)
  })
})

describe('Twilio', () => {
  const token = '12345'
  const sign = (url: string, params = '') => mac('sha1', token, url, params).digest('base64')
  const form = (url: string, signed: string, text: string) =>
    verifyTwilio(
      {
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signed },
        body: Buffer.from(text),
        nowMs,
        url,
      },
      token,
    ).valid

  test('Twilio: accepts the URL with and without the port', () => {
    for (const signed of ['https://a.example.com/x', 'https://a.example.com:443/x']) {
      assert.equal(form('https://a.example.com/x', sign(signed, 'A1'), 'A=1'), true)
    }
    assert.equal(form('https://a.example.com:8443/x', sign('https://a.example.com/x', 'A1'), 'A=1'), true)
    assert.equal(form('https://a.example.com/x', sign('https://b.example.com/x', 'A1'), 'A=1'), false)
    assert.equal(form('https://a.example.com/x', sign('http://a.example.com/x', 'A1'), 'A=1'), false)
  })

  test('Twilio: signs sorted parameters, repeated values once', () => {
    const url = 'https://a.example.com/x'
    assert.equal(form(url, sign(url, 'A1A2B3'), 'B=3&A=2&A=1&A=2'), true)
    assert.equal(form(url, sign(url, 'A1A2A2B3'), 'B=3&A=2&A=1&A=2'), false)
    assert.equal(form(url, sign(url, 'Bodyé +'), 'Body=%C3%A9+%2B'), true)
  })

  test('Twilio: verifies a JSON body by the hash in the URL', () => {
    const json = Buffer.from('{"a":1}')
    const hash = createHash('sha256').update(json).digest('hex')
    const url = `https://a.example.com/x?bodySHA256=${hash}`
    const request = { headers: { 'content-type': 'application/json', 'x-twilio-signature': sign(url) }, nowMs, url }
    assert.equal(verifyTwilio({ ...request, body: json }, token).valid, true)
    assert.equal(verifyTwilio({ ...request, body: Buffer.from('{"a":2}') }, token).valid, false)
    const without = 'https://a.example.com/x'
    const unhashed = { headers: { 'x-twilio-signature': sign(without) }, nowMs, url: without, body: json }
    assert.match(reasonOf(verifyTwilio(unhashed, token)), /bodySHA256/)
  })
})

describe('GitLab', () => {
  test('GitLab: accepts a valid token or a valid signature, and rejects a request with neither', () => {
    const secret = standardSecret(Buffer.alloc(32, 3))
    const { headers } = { headers: signStandardWebhook(Buffer.alloc(32, 3), 'evt_1', body, nowMs) }
    const verify = (given: Record<string, string>) => verifyGitlab({ headers: given, body, nowMs }, secret).valid
    assert.equal(verify({ 'x-gitlab-token': secret }), true)
    assert.equal(verify({ 'x-gitlab-token': 'wrong' }), false)
    assert.equal(verify({ ...headers, 'x-gitlab-token': 'another one' }), true)
    assert.equal(verify({ ...headers, 'webhook-id': 'evt_2' }), false)
    assert.equal(verify({}), false)
  })
})

describe('Linear', () => {
  test('Linear: rejects a signed body without a timestamp', () => {
    for (const text of ['{}', 'null', '[]', 'not JSON', '{"webhookTimestamp":"1"}', '{"webhookTimestamp":null}']) {
      const bytes = Buffer.from(text)
      const headers = { 'linear-signature': mac('sha256', secret, bytes).digest('hex') }
      assert.match(reasonOf(verifyLinear({ headers, body: bytes, nowMs }, secret)), /webhookTimestamp/)
    }
  })
})

describe('Discord', () => {
  test('Discord: accepts only public keys of 64 hexadecimal digits', () => {
    assert.ok(discordKey(discordPublicKey(secret)))
    for (const text of ['', 'ab', 'g'.repeat(64), 'é'.repeat(64), 'a'.repeat(66)])
      assert.equal(discordKey(text), undefined)
  })
})

describe('a token that is not ASCII', () => {
  test('compares a token that is not ASCII by its bytes on the wire', () => {
    const token = 'schlüssel-für-zoë'
    const asNodeShowsIt = Buffer.from(token).toString('latin1')
    for (const value of [asNodeShowsIt, `${token}🎉`]) {
      const expected = value === asNodeShowsIt ? token : value
      assert.equal(verifyToken({ headers: { 'x-webhook-token': value }, body, nowMs }, sha256(expected)).valid, true)
    }
    const lookAlike = { headers: { 'x-webhook-token': '\u0161ecret' }, body, nowMs }
    assert.equal(verifyToken(lookAlike, sha256('aecret')).valid, false)
  })
})
