import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'

const app = await startTestApp()
describe('x', () => {
  test('y', async () => {
    const owner = await app.createOrg()
    const form = new FormData()
    form.set('file', new File(['hello'], 'a "b".txt', { type: 'text/plain' }))
    const up = await app.call('POST', '/api/v1/files', { as: owner, body: form })
    console.log(up.status, up.text)
    const id = up.body.data.file.id
    console.log(await app.call('GET', `/api/v1/files/${id}`, { as: owner }))
    console.log(await app.call('GET', `/api/v1/files`, { as: owner }).then((a) => a.text))
    const r = await app.call('GET', `/api/v1/files/${id}?download=true`, { as: owner })
    console.log(r.status, r.headers)
    const loc = r.headers.get('location')!
    console.log(await app.call('GET', loc.replace(app.url, '')))
    console.log(await app.call('HEAD', loc.replace(app.url, '')))
    console.log(
      await app.call('GET', `/api/v1/files/${id}?download=true&inline=true`, {
        as: owner,
        headers: { range: 'bytes=1-2' },
      }),
    )
    const j = await app.call('POST', '/api/v1/files', {
      as: owner,
      json: { name: 'b.txt', mimeType: 'text/plain', size: 3 },
    })
    console.log(j.status, j.text)
    console.log(await app.call('PUT', j.body.data.uploadUrl.replace(app.url, ''), { body: 'abc' }).then((a) => a.text))
    console.log(await app.call('DELETE', `/api/v1/files/${id}`, { as: owner }).then((a) => a.text))
    console.log(await app.call('GET', `/api/v1/files?search=B`, { as: owner }).then((a) => a.text))
  })
})
