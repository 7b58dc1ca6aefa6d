import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { longestBlockMs } from '../../../test/support/processes/longest-block.ts'
import { catalog } from '../catalog/catalog.ts'
import { createScrubber } from './scrub.ts'
import type { Connector } from '../catalog/definition.ts'

const accessOf = (slug: string, secrets: Record<string, string>) => ({
  connector: catalog.get(slug) as Connector,
  secrets,
  accountId: null,
})

test('a secret is redacted in plain, URL-encoded, JSON-escaped and base64 form', () => {
  const secret = fc
    .string({ minLength: 6, maxLength: 60, unit: 'grapheme-ascii' })
    .filter((text) => text.trim() === text)
  fc.assert(
    fc.property(secret, fc.string(), (token, around) => {
      const scrub = createScrubber(accessOf('airtable', { token }))
      const forms = [token, encodeURIComponent(token), JSON.stringify(token), Buffer.from(token).toString('base64')]
      for (const form of forms) {
        const clean = scrub(`${around} ${form} ${around}`)
        assert.ok(!clean.includes(token) || around.includes(token) || '[redacted]'.includes(token), clean)
      }
    }),
  )
})

test('credential fields that are not secret are not redacted', () => {
  const scrub = createScrubber(accessOf('twilio', { accountSid: 'AC1234567', authToken: 'planted-token' }))
  assert.equal(scrub('AC1234567 planted-token'), 'AC1234567 [redacted]')
  assert.equal(scrub(`Basic ${Buffer.from('AC1234567:planted-token').toString('base64')}`), 'Basic [redacted]')
  const http = createScrubber(
    accessOf('http', { baseUrl: 'https://api.example.com', headerName: 'X-Key', headerValue: 'Bearer planted-key' }),
  )
  assert.equal(
    http('https://api.example.com X-Key planted-key Bearer planted-key'),
    'https://api.example.com X-Key [redacted] [redacted]',
  )
})

test('a secret of fewer than six characters is not redacted', () => {
  assert.equal(createScrubber(accessOf('airtable', { token: 'a' }))('banana'), 'banana')
})

test('a secret of 16,000 characters is redacted in a megabyte of its own characters without blocking the event loop', () => {
  // What an OAuth server chooses as its token, and the MCP server of the same person as its response.
  const token = `ab${'a'.repeat(16_000)}`
  const scrub = createScrubber(accessOf('mcp', { token }))
  const text = 'a'.repeat(500_000)
  const before = process.threadCpuUsage()
  const clean = scrub(`${text}b${text}`)
  const { user, system } = process.threadCpuUsage(before)
  assert.equal(clean, `${text.slice(1)}[redacted]${text.slice(16_000)}`)
  assert.ok((user + system) / 1_000 < longestBlockMs)
})

test('a long secret is redacted wherever it begins, also in text that repeats parts of it', () => {
  const part = fc.constantFrom('a', 'ab', 'aab')
  const secret = fc.array(part, { minLength: 201, maxLength: 220 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(secret, fc.array(fc.oneof(part, fc.constant('')), { maxLength: 50 }), (token, parts) => {
      const text = parts.map((one) => (one === '' ? token : one)).join('')
      const scrub = createScrubber(accessOf('mcp', { token }))
      assert.equal(scrub(text), text.replaceAll(token, '[redacted]'))
    }),
  )
})
