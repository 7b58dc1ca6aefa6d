import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFolder, leavesNothing, pathOf, sendForm, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'

const app = await startTestApp({ RATE_LIMIT_UPLOADS: '3', RATE_LIMIT_WRITES: '5' })

const text = { name: 'file', filename: 'a.txt', type: 'text/plain', value: 'x' }
const announced = { name: 'a', mimeType: 'text/plain', size: 1 }

describe('the rate limits of files', () => {
  test('forms and pending files share the uploads limit, and a rejected upload leaves nothing behind', async () => {
    const owner = await app.createOrg()
    const post = () => app.call('POST', '/api/v1/files', { as: owner, json: announced })
    const first = await post()
    assert.match(first.headers.get('ratelimit-policy') ?? '', /^"uploads";q=3/)
    assert.equal((await sendForm(app, owner, [text])).status, 201)
    assert.equal((await post()).status, 201)
    for (const rejected of [post, () => sendForm(app, owner, [text])]) {
      const { headers } = await leavesNothing(app, 'TOO_MANY_REQUESTS', rejected)
      assert.ok(Number(headers.get('retry-after')) > 0)
    }
    assert.equal(
      (await app.call('POST', '/api/v1/files', { as: owner, json: { source: 'folder', name: 'f' } })).status,
      201,
    )
  })

  test('a rejected body counts towards the limit of its kind', async () => {
    const owner = await app.createOrg()
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await sendForm(app, owner, [{ ...text, type: 'application/x-sh' }])).status, 400)
    }
    assert.equal((await sendForm(app, owner, [text])).status, 429)
  })

  test('creating folders and links counts as writes, like changes and deletions', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'x')
    const folder = await createFolder(app, owner, 'f')
    const link = await app.call('POST', '/api/v1/files', { as: owner, json: { source: 'link', targetFileId: file.id } })
    assert.match(link.headers.get('ratelimit-policy') ?? '', /^"writes";q=5/)
    for (const [method, json] of [
      ['PATCH', { name: 'g' }],
      ['PATCH', { name: 'h' }],
      ['DELETE', undefined],
    ] as const) {
      const { status } = await app.call(method, `/api/v1/files/${folder.id}`, { as: owner, ...(json ? { json } : {}) })
      assert.equal(status, 200)
    }
    const rejected = await app.call('POST', '/api/v1/files', { as: owner, json: { source: 'folder', name: 'f' } })
    assert.equal(rejected.body.error.code, 'TOO_MANY_REQUESTS')
    assert.equal((await sendForm(app, owner, [text])).status, 201)
  })

  test('the signed PUT has no rate limit', async () => {
    const owner = await app.createOrg()
    for (let round = 0; round < 3; round += 1) {
      const { body } = await app.call('POST', '/api/v1/files', { as: owner, json: announced })
      for (const bytes of ['too long', 'x']) {
        const { status, headers } = await app.call('PUT', pathOf(app, body.data.uploadUrl), { body: bytes })
        assert.equal(status, bytes === 'x' ? 200 : 400)
        assert.equal(headers.get('ratelimit-policy'), null)
      }
    }
  })
})
