import assert from 'node:assert/strict'
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { signToken, verifyToken } from './token.ts'
import type { TokenClaims } from './token.ts'

const key = (id: string) => ({ id, key: randomBytes(32) })
const keys = [key('one')]
const now = new Date('2026-11-21T10:00:00.500Z')

const claimsOf = fc.record<TokenClaims>(
  {
    op: fc.constantFrom('put', 'get'),
    orgId: fc.uuid(),
    fileId: fc.uuid(),
    contentType: fc.constantFrom('text/plain', 'application/pdf'),
    sizeBytes: fc.integer({ min: 0, max: 104_857_600 }),
    disposition: fc.string({ unit: 'grapheme', maxLength: 255 }),
    expiresAt: fc.integer({ min: 1, max: 604_800 }).map((s) => new Date(Math.floor(now.getTime() / 1000 + s) * 1000)),
  },
  { noNullPrototype: true },
)

const sample: TokenClaims = {
  op: 'get',
  orgId: '019aa000-0000-7000-8000-000000000001',
  fileId: '019aa000-0000-7000-8000-000000000002',
  contentType: 'application/pdf',
  sizeBytes: 12_345,
  disposition: "inline; filename*=UTF-8''a%20b.pdf",
  expiresAt: new Date('2026-11-21T10:05:00Z'),
}

test('a token returns exactly the signed claims, and only for its own operation', () => {
  fc.assert(
    fc.property(claimsOf, (claims) => {
      const token = signToken(keys, claims)
      assert.match(token, /^v1\.[\w-]+\.[\w-]{43}$/)
      assert.deepEqual(verifyToken(keys, token, claims.op, now), claims)
      assert.equal(verifyToken(keys, token, claims.op === 'get' ? 'put' : 'get', now), undefined)
    }),
  )
})

test('a token with any single bit flipped is rejected for every operation', () => {
  const token = signToken(keys, sample)
  for (let at = 0; at < token.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const bytes = Buffer.from(token, 'latin1')
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
      for (const op of ['get', 'put'] as const) {
        assert.equal(verifyToken(keys, bytes.toString('latin1'), op, now), undefined, `byte ${at}, bit ${bit}, ${op}`)
      }
    }
  }
})

test('text that is not a token is rejected without an exception', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string().map((text) => `v1.${text}`),
      ),
      (text) => {
        assert.equal(verifyToken(keys, text, 'get', now), undefined)
      },
    ),
  )
  const [, payload = '', mac = ''] = signToken(keys, sample).split('.')
  for (const forged of [
    '',
    'v1..',
    `v1.${payload}.`,
    `v1.${payload}`,
    `v2.${payload}.${mac}`,
    `v1.${payload}.${mac}.`,
    `v1.${payload}=.${mac}`,
    `v1.${payload}.${mac}=`,
    `v1.${payload}.${mac} `,
    `v1.${payload}.${'é'.repeat(43)}`,
    'v1.'.padEnd(1_000_000, 'A'),
  ]) {
    assert.equal(verifyToken(keys, forged, 'get', now), undefined, forged.slice(0, 80))
  }
})

test('a put payload signed with the get key is rejected for both operations', () => {
  const payload = JSON.stringify(['put', sample.orgId, sample.fileId, 'text/plain', 5, '', 4_102_444_800])
  const signed = `v1.${Buffer.from(payload).toString('base64url')}`
  const getKey = Buffer.from(hkdfSync('sha256', keys[0]!.key, '', 'atrium file token v1 get', 32))
  const token = `${signed}.${createHmac('sha256', getKey).update(signed).digest('base64url')}`
  assert.equal(verifyToken(keys, token, 'put', now), undefined)
  assert.equal(verifyToken(keys, token, 'get', now), undefined)
})

test('a token is valid before its second of expiry and not from then on', () => {
  const token = signToken(keys, sample)
  assert.ok(verifyToken(keys, token, 'get', new Date('2026-11-21T10:04:59.999Z')))
  assert.equal(verifyToken(keys, token, 'get', new Date('2026-11-21T10:05:00.000Z')), undefined)
  assert.equal(verifyToken(keys, token, 'get', new Date('2027-11-21T10:05:00.000Z')), undefined)
})

test('after a key rotation the new key signs, and tokens of the old key stay valid until it is removed', () => {
  const [old] = keys
  const rotated = [key('two'), old!]
  const before = signToken(keys, sample)
  const after = signToken(rotated, sample)
  assert.deepEqual(verifyToken(rotated, before, 'get', now), sample)
  assert.deepEqual(verifyToken(rotated, after, 'get', now), sample)
  assert.equal(verifyToken(keys, after, 'get', now), undefined)
  assert.equal(verifyToken([rotated[0]!], before, 'get', now), undefined)
  assert.equal(verifyToken([], before, 'get', now), undefined)
  assert.throws(() => signToken([], sample), TypeError)
})
