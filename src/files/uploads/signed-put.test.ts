import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { create, createFolder, leavesNothing, pathOf, traces, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { openSocket, sendRaw } from '../../../test/support/raw-http.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { signToken } from '../signed-urls/token.ts'
import type { TokenClaims } from '../signed-urls/token.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const stranger = await app.createOrg()

const post = (json: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/api/v1/files', { as: owner, json, headers })

const pending = async (size: number, more: Record<string, unknown> = {}) => {
  const { file, uploadUrl } = await create(app, owner, { name: 'a.txt', mimeType: 'text/plain', size, ...more })
  return { file, path: pathOf(app, uploadUrl) }
}

const put = (path: string, body: string | Buffer | ReadableStream, type?: string) =>
  app.call('PUT', path, { body, headers: type === undefined ? {} : { 'content-type': type } })

/** A PUT without a Content-Type, which fetch would add. */
const putWithoutType = async (path: string, body: string) => {
  const [response] = await sendRaw(
    app.url,
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  return response
}

const get = (id: string) => app.call('GET', `/api/v1/files/${id}`, { as: owner })
const bytesOf = (id: string) => app.call('GET', `/api/v1/files/${id}?download=true&inline=true`, { as: owner })

describe('POST /files, JSON', () => {
  test('creating an upload returns the pending file and its uploadUrl', async () => {
    const { status, body } = await post({ name: 'a.txt', mimeType: 'Text/Plain; charset=utf-8', size: 5 })
    assert.equal(status, 201)
    const { file, uploadUrl } = body.data
    assert.deepEqual(
      [file.name, file.mimeType, file.size, file.status, file.source, file.contentHash, file.storageKey],
      ['a.txt', 'text/plain', 5, 'pending', 'upload', null, null],
    )
    assert.equal(file.storageUrl, `${app.url}/api/v1/files/${file.id}?download=true`)
    assert.ok(uploadUrl.startsWith(`${app.url}/api/v1/files/${file.id}/content?token=`))
    assert.deepEqual((await get(file.id)).body.data, file)
    const listed = await app.call('GET', '/api/v1/files', { as: owner })
    assert.ok(listed.body.data.items.some(({ id }: { id: string }) => id === file.id))
  })

  test('signed URLs start with BASE_URL when it is configured', async () => {
    const behind = await app.secondServer({ BASE_URL: 'https://files.example.com/atrium' })
    const { body } = await behind.call('POST', '/api/v1/files', {
      as: owner,
      json: { name: 'a', mimeType: 'text/plain', size: 1 },
    })
    const { file, uploadUrl } = body.data
    assert.ok(uploadUrl.startsWith(`https://files.example.com/atrium/api/v1/files/${file.id}/content?token=`))
    assert.equal(file.storageUrl, `https://files.example.com/atrium/api/v1/files/${file.id}?download=true`)
  })

  test('a folder has no content and no uploadUrl', async () => {
    const { status, body } = await post({ source: 'folder', name: 'things' })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body.data), ['file'])
    const { file } = body.data
    assert.deepEqual(
      [file.source, file.mimeType, file.size, file.storageKey, file.storageUrl, file.status],
      ['folder', null, 0, null, null, 'ready'],
    )
  })

  for (const size of [0, 1, 104_857_600]) {
    test(`an upload of ${size} bytes is accepted`, async () => assert.equal((await pending(size)).file.size, size))
  }
  for (const name of ['𝒳'.repeat(255), '../..', 'CON', 'e\u0301', '\u202Egpj.exe', '\t', '\u0085 \u2028']) {
    test(`the name ${JSON.stringify(name.slice(0, 8))} is stored unchanged`, async () =>
      assert.equal((await pending(1, { name })).file.name, name))
  }

  const base = { name: 'a.txt', mimeType: 'text/plain', size: 1 }
  const rejected: [string, unknown][] = [
    ['an empty object', {}],
    ['a list', []],
    ['null', null],
    ['no name', { mimeType: 'text/plain', size: 1 }],
    ['an empty name', { ...base, name: '' }],
    ['a name of 256 characters', { ...base, name: '𝒳'.repeat(256) }],
    ['NUL in the name', { ...base, name: 'a\0b' }],
    ['CR in the name', { ...base, name: 'a\rb' }],
    ['LF in the name', { ...base, name: 'a\nb' }],
    ['a name that is a number', { ...base, name: 1 }],
    ['half a surrogate pair in the name', { ...base, name: '\uD800' }],
    ['no mimeType', { name: 'a', size: 1 }],
    ['a mimeType that is not stored', { ...base, mimeType: 'application/x-msdownload' }],
    ['an empty mimeType', { ...base, mimeType: '' }],
    ['a wildcard mimeType', { ...base, mimeType: 'text/*' }],
    ['no size', { name: 'a', mimeType: 'text/plain' }],
    ['a negative size', { ...base, size: -1 }],
    ['a size of 100 MB and a byte', { ...base, size: 104_857_601 }],
    ['a size that is not an integer', { ...base, size: 1.5 }],
    ['a size in quotes', { ...base, size: '1' }],
    ['a malformed parentId', { ...base, parentId: 'nonsense' }],
    ['an empty parentId', { ...base, parentId: '' }],
    ['a missing parent', { ...base, parentId: newId() }],
    ['a malformed projectId', { ...base, projectId: 'nonsense' }],
    ['an unknown source', { ...base, source: 'symlink' }],
    ['source null', { ...base, source: null }],
    ['a folder without a name', { source: 'folder' }],
    ['a folder with a name of 256 characters', { source: 'folder', name: 'x'.repeat(256) }],
    ['a folder with LF in its name', { source: 'folder', name: 'x\ny' }],
    ['a folder in a missing parent', { source: 'folder', name: 'x', parentId: newId() }],
    ['a link without a target', { source: 'link' }],
    ['a link with a malformed target', { source: 'link', targetFileId: 'nonsense' }],
    ['a link with a name that is too long', { source: 'link', name: 'x'.repeat(256), targetFileId: newId() }],
  ]
  for (const [what, json] of rejected) {
    test(`POST /files rejects ${what} and leaves nothing behind`, async () => {
      await leavesNothing(app, 'BAD_REQUEST', () => post(json))
    })
  }

  test('POST /files rejects an empty body, with and without a Content-Type', async () => {
    const headers = { 'content-type': 'application/json' }
    await leavesNothing(app, 'BAD_REQUEST', () => app.call('POST', '/api/v1/files', { as: owner, body: '', headers }))
    await leavesNothing(app, 'BAD_REQUEST', () => app.call('POST', '/api/v1/files', { as: owner }))
  })

  test('POST /files validates a JSON body with any spelling of its Content-Type', async () => {
    for (const type of ['APPLICATION/JSON', 'application/json ; charset=utf-8', 'application/json;charset=utf-8']) {
      const headers = { 'content-type': type }
      const response = await app.call('POST', '/api/v1/files', {
        as: owner,
        body: '{"name":1,"mimeType":"text/plain","size":1}',
        headers,
      })
      assert.equal(response.body.error.code, 'BAD_REQUEST', type)
    }
  })

  test('an unknown project and a project of another org are NOT_FOUND with the same message', async () => {
    const project = await app.call('POST', '/api/v1/projects', { as: stranger, json: { name: 'Theirs' } })
    const responses: Answer[] = []
    for (const projectId of [newId(), project.body.data.id]) {
      responses.push(await leavesNothing(app, 'NOT_FOUND', () => post({ ...base, projectId })))
    }
    assert.equal(responses[0]?.text, responses[1]?.text)
  })
})

const claimsOf = (fileId: string): TokenClaims => ({
  op: 'put',
  orgId: owner.orgId,
  fileId,
  contentType: 'text/plain',
  sizeBytes: 5,
  disposition: '',
  expiresAt: new Date(Date.now() + 3_600_000),
})

describe('PUT to the uploadUrl', () => {
  test('PUT to the uploadUrl completes the file without a key and returns its record', async () => {
    const { file, path } = await pending(5)
    const { status, body } = await put(path, 'hello', 'text/plain')
    assert.equal(status, 200)
    const finished = body.data.file
    assert.deepEqual([finished.id, finished.status, finished.size], [file.id, 'ready', 5])
    assert.match(finished.contentHash, /^[0-9a-f]{64}$/)
    assert.match(finished.storageKey, new RegExp(`^${owner.orgId}/`))
    assert.deepEqual((await get(file.id)).body.data, finished)
    assert.equal((await bytesOf(file.id)).text, 'hello')
  })

  for (const type of ['text/plain', 'TEXT/PLAIN; charset=utf-8', 'application/octet-stream']) {
    test(`PUT accepts the Content-Type ${type} and keeps the declared type`, async () => {
      const { file, path } = await pending(5)
      assert.equal((await put(path, 'hello', type)).status, 200)
      assert.equal((await get(file.id)).body.data.mimeType, 'text/plain')
    })
  }

  test('PUT accepts a body without a Content-Type', async () => {
    const { file, path } = await pending(5)
    assert.equal((await putWithoutType(path, 'hello'))?.status, 200)
    assert.equal((await bytesOf(file.id)).text, 'hello')
  })

  test('PUT stores a JSON body as bytes', async () => {
    const { file, path } = await pending(9, { mimeType: 'application/json', name: 'a.json' })
    assert.equal((await put(path, '{"a":  1}', 'application/json')).status, 200)
    assert.equal((await bytesOf(file.id)).text, '{"a":  1}')
  })

  test('PUT accepts a body of unknown length when it has the declared size', async () => {
    const { file, path } = await pending(200_000)
    const bytes = randomBytes(200_000)
    assert.equal((await put(path, new Blob([bytes]).stream())).status, 200)
    const { headers } = await app.call('HEAD', `/api/v1/files/${file.id}?download=true&inline=true`, { as: owner })
    assert.equal(headers.get('content-length'), '200000')
  })

  test('PUT accepts an empty body for a file of size 0', async () => {
    const { file, path } = await pending(0)
    assert.equal((await put(path, '')).status, 200)
    assert.equal((await get(file.id)).body.data.status, 'ready')
    const other = await pending(0)
    assert.equal((await app.call('PUT', other.path)).status, 200)
  })

  const rejected: [string, (path: string) => Promise<Answer>][] = [
    ['another type', (path) => put(path, 'hello', 'text/html')],
    ['a byte too few', (path) => put(path, 'hell', 'text/plain')],
    ['a byte too many', (path) => put(path, 'hello!', 'text/plain')],
    ['nothing', (path) => put(path, '', 'text/plain')],
    ['a byte too few, of unknown length', (path) => put(path, new Blob(['hell']).stream())],
    ['a byte too many, of unknown length', (path) => put(path, new Blob(['hello!']).stream())],
    ['a megabyte too many, of unknown length', (path) => put(path, new Blob([Buffer.alloc(1_048_576)]).stream())],
    ['a form', (path) => put(path, 'hello', 'multipart/form-data; boundary=x')],
  ]
  for (const [what, send] of rejected) {
    test(`PUT rejects ${what}, leaves nothing behind, and accepts the right bytes afterwards`, async () => {
      const { file, path } = await pending(5)
      await leavesNothing(app, 'BAD_REQUEST', () => send(path))
      assert.deepEqual((await get(file.id)).body.data, file)
      assert.equal((await put(path, 'hello')).status, 200)
    })
  }

  test('PUT rejects bytes that do not match the declared type', async () => {
    const { path } = await pending(5, { mimeType: 'image/png' })
    await leavesNothing(app, 'BAD_REQUEST', () => put(path, 'hello', 'image/png'))
  })

  test('PUT works with the id in capitals', async () => {
    const { file, path } = await pending(5)
    const { status, body } = await put(path.replace(file.id, file.id.toUpperCase()), 'hello')
    assert.deepEqual([status, body.data?.file.id], [200, file.id])
  })

  test('an uploadUrl works once', async () => {
    const { file, path } = await pending(5)
    assert.equal((await put(path, 'hello')).status, 200)
    await leavesNothing(app, 'CONFLICT', () => put(path, 'HELLO'))
    assert.equal((await bytesOf(file.id)).text, 'hello')
  })

  test('of ten PUTs at the same time one wins, the others are CONFLICT, and the content is that of the winner', async () => {
    const { file, path } = await pending(40_000)
    const before = await traces(app)
    const bodies = Array.from({ length: 10 }, () => randomBytes(20_000).toString('hex'))
    const responses = await Promise.all(bodies.map((body) => put(path, body)))
    const winners = responses.flatMap(({ status }, index) => (status === 200 ? [index] : []))
    assert.equal(winners.length, 1)
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200, 409]))
    assert.equal((await bytesOf(file.id)).text, bodies[winners[0]!])
    const after = await traces(app)
    assert.equal(after.objects.length, before.objects.length + 1)
    assert.equal(after.blobs, (before.blobs ?? 0n) + 1n)
    assert.equal(after.unfinished, 0)
  })

  test('a PUT that is interrupted leaves nothing behind and can be repeated', async () => {
    const { file, path } = await pending(200_000)
    const before = await traces(app)
    const socket = await openSocket(app.url)
    socket.on('error', () => undefined)
    socket.write(`PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(100_000)}`)
    await until('the upload is under way', async () => (await traces(app)).unfinished > 0)
    socket.destroy()
    await until('nothing of it is left', async () => isDeepStrictEqual(await traces(app), before))
    assert.equal((await put(path, 'y'.repeat(200_000))).status, 200)
    assert.equal((await get(file.id)).body.data.status, 'ready')
  })

  test('PUT is NOT_FOUND when the creator of the file has left the org, also during the upload', async () => {
    const pendingOfMember = async (): Promise<{ path: string; leaves: () => Promise<void> }> => {
      const person = await app.createUser(owner, 'member')
      const json = { name: 'a.txt', mimeType: 'text/plain', size: 200_000 }
      const { uploadUrl } = await create(app, person, json)
      const { items } = (await app.call('GET', '/api/v1/members?limit=100', { as: owner })).body.data
      const { id } = items.find((one: { userId: string }) => one.userId === person.userId)
      const leaves = async (): Promise<void> => {
        const { status, text } = await app.call('DELETE', `/api/v1/members/${id}`, { as: owner })
        assert.equal(status, 200, text)
      }
      return { path: pathOf(app, uploadUrl), leaves }
    }
    const before = await pendingOfMember()
    await before.leaves()
    const response = await leavesNothing(app, 'NOT_FOUND', () => put(before.path, 'x'.repeat(200_000)))
    assert.equal(response.status, 404)

    const late = await pendingOfMember()
    const stored = await traces(app)
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const answer = put(late.path, readable)
    await writer.write(Buffer.from('x'.repeat(100_000)))
    await until('the upload is under way', async () => (await traces(app)).unfinished > stored.unfinished)
    await late.leaves()
    await writer.write(Buffer.from('x'.repeat(100_000)))
    await writer.close()
    assert.equal((await answer).status, 404)
    await until('nothing of it is left', async () => isDeepStrictEqual(await traces(app), stored))
  })

  test('PUT is NOT_FOUND when the file is deleted, also during the upload', async () => {
    const { file, path } = await pending(5)
    await app.call('DELETE', `/api/v1/files/${file.id}`, { as: owner })
    const response = await leavesNothing(app, 'NOT_FOUND', () => put(path, 'hello'))
    assert.equal(response.status, 404)

    const late = await pending(200_000)
    const before = await traces(app)
    const socket = await openSocket(app.url)
    const closed = new Promise<string>((resolve) => {
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      socket.on('close', () => resolve(text))
    })
    socket.write(
      `PUT ${late.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(100_000)}`,
    )
    await until('the upload is under way', async () => (await traces(app)).unfinished > 0)
    await app.call('DELETE', `/api/v1/files/${late.file.id}`, { as: owner })
    socket.write('x'.repeat(100_000))
    assert.match(await closed, /^HTTP\/1\.1 404 /)
    const { files, counted, ...rest } = await traces(app)
    assert.deepEqual({ ...rest, files: files! + 1n, counted: counted! + 1n }, before)
  })

  describe('upload tokens', () => {
    const keys = app.deps.secrets.deriveKeys('signed URLs')
    const withToken = (fileId: string, claims: TokenClaims) =>
      put(`/api/v1/files/${fileId}/content?token=${signToken(keys, claims)}`, 'hello')

    test('PUT is UNAUTHORIZED without a token or key, and FORBIDDEN with a broken token, that of another file or a download token', async () => {
      const { file, path } = await pending(5)
      const other = await pending(5)
      const ready = await upload(app, owner, 'bytes')
      const { headers } = await app.call('GET', `/api/v1/files/${ready.id}?download=true`, { as: owner })
      const download = pathOf(app, headers.get('location') ?? '')
      const responses: string[] = []
      await leavesNothing(app, 'UNAUTHORIZED', () => put(path.replace(/\?.*/, ''), 'hello'))
      for (const attempt of [
        `${path}x`,
        path.replace(file.id, other.file.id),
        other.path.replace(other.file.id, file.id),
        download,
        download.replace(ready.id, file.id),
      ]) {
        const response = await leavesNothing(app, 'FORBIDDEN', () => put(attempt, 'hello'))
        responses.push(response.text)
      }
      assert.equal(new Set(responses).size, 1)
      assert.equal((await bytesOf(ready.id)).text, 'bytes')
    })

    test('an upload token is valid for one hour', async () => {
      const { file } = await pending(5)
      const expiresAt = new Date(Date.now() - 1_000)
      await leavesNothing(app, 'FORBIDDEN', () => withToken(file.id, { ...claimsOf(file.id), expiresAt }))
      assert.equal((await withToken(file.id, claimsOf(file.id))).status, 200)
      const { uploadUrl } = await create(app, owner, { name: 'a', mimeType: 'text/plain', size: 5 })
      const [, payload = ''] = (new URL(uploadUrl).searchParams.get('token') ?? '').split('.')
      const expires = JSON.parse(Buffer.from(payload, 'base64url').toString()).at(-1)
      assert.ok(Math.abs(expires - Date.now() / 1_000 - 3_600) < 60)
    })

    test('an upload token never writes into another org', async () => {
      const { file } = await pending(5)
      await leavesNothing(app, 'NOT_FOUND', () => withToken(file.id, { ...claimsOf(file.id), orgId: stranger.orgId }))
    })

    test('a download URL does not accept an upload token', async () => {
      const { path } = await pending(5)
      const before = await app.call('GET', path)
      assert.equal(before.body.error.code, 'FORBIDDEN')
      await put(path, 'hello')
      assert.equal((await app.call('GET', path)).body.error.code, 'FORBIDDEN')
    })
  })

  test('PUT with a malformed id is NOT_FOUND', async () => {
    const { path, file } = await pending(5)
    const { body } = await put(path.replace(file.id, 'nonsense'), 'hello')
    assert.equal(body.error.code, 'NOT_FOUND')
  })
})

describe('a pending file', () => {
  test('downloading a pending file is CONFLICT', async () => {
    const { file } = await pending(5)
    for (const query of ['?download=true', '?download=true&inline=true']) {
      const { body } = await app.call('GET', `/api/v1/files/${file.id}${query}`, { as: owner })
      assert.equal(body.error.code, 'CONFLICT')
    }
  })

  test('a pending file can be renamed, moved and deleted', async () => {
    const { file, path } = await pending(5)
    const folder = await createFolder(app, owner, 'f')
    const { status } = await app.call('PATCH', `/api/v1/files/${file.id}`, {
      as: owner,
      json: { name: 'b.txt', parentId: folder.id },
    })
    assert.equal(status, 200)
    assert.equal((await put(path, 'hello')).body.data.file.name, 'b.txt')
  })

  test('a pending file shares the blob of a file with the same bytes', async () => {
    const ready = await upload(app, owner, 'shared bytes')
    const { path } = await pending(12)
    const { body } = await put(path, 'shared bytes')
    assert.equal(body.data.file.storageKey, ready.storageKey)
    const rows = await app.db.rows(sql`select 1 from blobs where org_id = ${owner.orgId} and state <> 'live'`)
    assert.deepEqual(rows, [])
  })
})
