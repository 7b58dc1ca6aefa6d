import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
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
