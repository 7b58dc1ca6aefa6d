import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pathOf, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { downloadHeaders, downloadTypeOf, inlineHeaders } from './content-headers.ts'
import { storedTypes } from '../uploads/mime-types.ts'
import { downloadUrlOf } from '../signed-urls/signed-urls.ts'

const app = await startTestApp()
const owner = await app.createOrg()

const inline = (id: string): string => `/api/v1/files/${id}?download=true&inline=true`

const signed = async (id: string): Promise<string> => {
  const { headers } = await app.call('GET', `/api/v1/files/${id}?download=true`, { as: owner })
  return pathOf(app, headers.get('location') ?? '')
}

// https://mimesniff.spec.whatwg.org/#javascript-mime-type and https://html.spec.whatwg.org/#link-type-stylesheet.
const javascript =
  'application/ecmascript application/javascript application/x-ecmascript application/x-javascript text/ecmascript text/javascript text/javascript1.0 text/javascript1.1 text/javascript1.2 text/javascript1.3 text/javascript1.4 text/javascript1.5 text/jscript text/livescript text/x-ecmascript text/x-javascript'
const runOrApplied = new Set([...javascript.split(' '), 'text/css'])
/** Types that become a document with scripts, or a transformation of one, when a browser shows them. */
const documents = /^(?:text\/html|text\/xml|application\/xml|application\/xslt|.*\+xml)$/

describe('uploaded active content', () => {
  test('uploaded code is never served with a type that a browser runs, applies as a style or parses as a document', () => {
    for (const type of [...storedTypes.keys(), ...runOrApplied]) {
      const shown = inlineHeaders('a', type)
      const saved = downloadHeaders(type, 'attachment')
      for (const { content, protection } of [shown, saved]) {
        assert.ok(!runOrApplied.has(content['content-type']!.split(';')[0]!), type)
        assert.equal(protection['x-content-type-options'], 'nosniff')
        assert.equal(protection['cross-origin-resource-policy'], 'same-origin')
        assert.match(protection['content-security-policy']!, /^default-src 'none';/)
        assert.doesNotMatch(protection['content-security-policy']!, /script-src|unsafe-eval|allow-scripts/)
      }
      assert.doesNotMatch(shown.content['content-type']!.split(';')[0]!, documents)
      if (type !== 'application/pdf') assert.match(shown.protection['content-security-policy']!, /; sandbox$/)
      assert.match(saved.protection['content-security-policy']!, /; sandbox$/)
    }
  })

  for (const type of ['text/javascript', 'application/javascript', 'application/x-javascript', 'text/css']) {
    test(`a file of type ${type} is sent as text/plain, inline and as a download`, async () => {
      const file = await upload(app, owner, 'alert(1)', { name: 'code.js', type })
      const responses = [
        await app.call('GET', inline(file.id), { as: owner }),
        await app.call('GET', await signed(file.id)),
        await app.call('HEAD', await signed(file.id)),
        await app.call('GET', await signed(file.id), { headers: { range: 'bytes=0-3' } }),
      ]
      for (const { status, headers } of responses) {
        assert.ok(status === 200 || status === 206)
        assert.match(headers.get('content-type') ?? '', /^text\/plain(; charset=utf-8)?$/)
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
        assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.*sandbox/)
      }
      const record = await app.call('GET', `/api/v1/files/${file.id}`, { as: owner })
      assert.equal(record.body.data.mimeType, type, 'the record keeps the type')
    })
  }

  test('user content keeps its security headers on 304 and 416', async () => {
    const file = await upload(app, owner, '%PDF-1.7', { name: 'a.pdf', type: 'application/pdf' })
    const first = await app.call('GET', inline(file.id), { as: owner })
    const policy = first.headers.get('content-security-policy')
    const etag = first.headers.get('etag') ?? ''
    for (const [status, headers] of [
      [304, { 'if-none-match': etag }],
      [416, { range: 'bytes=100-' }],
    ] as const) {
      const response = await app.call('GET', inline(file.id), { as: owner, headers })
      assert.equal(response.status, status)
      assert.equal(response.headers.get('content-security-policy'), policy)
      assert.equal(response.headers.get('cross-origin-resource-policy'), 'same-origin')
    }
    const saved = await app.call('GET', await signed(file.id), { headers: { 'if-none-match': etag } })
    assert.equal(saved.status, 304)
    assert.match(saved.headers.get('content-security-policy') ?? '', /sandbox/)
  })

  test('a script has the type text/plain in a URL that an S3 store signs', async () => {
    const asked: { contentType: string }[] = []
    const objects = {
      signedGetUrl: (_key: string, options: { contentType: string }) => {
        asked.push(options)
        return Promise.resolve('https://s3.example.com/key')
      },
    }
    const deps = { ...app.deps, signingKeys: [], objects } as unknown as Parameters<typeof downloadUrlOf>[0]
    for (const mimeType of ['text/css', 'text/javascript', 'image/png']) {
      const content = { id: 'id', name: 'a', mimeType, sizeBytes: 1, storageKey: 'key', contentHash: 'hash' }
      await downloadUrlOf(deps, owner.orgId, content, 'https://atrium.example.com')
    }
    assert.deepEqual(
      asked.map(({ contentType }) => contentType),
      ['text/plain', 'text/plain', 'image/png'],
    )
    assert.equal(downloadTypeOf('text/html'), 'text/html', 'which is an attachment and never shown')
  })
})
