import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { countsAreExact, create, createFolder, pathOf, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer } from '../../../test/harness.ts'
import { sendRaw } from '../../../test/support/raw-http.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { signToken } from '../signed-urls/token.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const stranger = await app.createOrg()

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.call(method, path, { as: owner, headers })
const inline = (id: string) => `/api/v1/files/${id}?download=true&inline=true`
const remove = (id: string) => app.call('DELETE', `/api/v1/files/${id}`, { as: owner })
const link = async (targetFileId: string, name?: string) =>
  (await create(app, owner, { source: 'link', targetFileId, name })).file

/** The path of the signed URL that a download redirects to. */
const signed = async (id: string): Promise<string> => {
  const { status, headers } = await get(`/api/v1/files/${id}?download=true`)
  assert.equal(status, 302)
  return pathOf(app, headers.get('location') ?? '')
}

describe('GET /files/:id', () => {
  test('a file record has an ETag, and If-None-Match with it gets 304', async () => {
    const file = await upload(app, owner, 'hello')
    const first = await get(`/api/v1/files/${file.id}`)
    assert.deepEqual(first.body.data, file)
    const etag = first.headers.get('etag') ?? ''
    const again = await get(`/api/v1/files/${file.id}`, { 'if-none-match': etag })
    assert.deepEqual([again.status, again.text], [304, ''])
    const head = await get(`/api/v1/files/${file.id}`, {}, 'HEAD')
    assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', etag])
    assert.equal(head.headers.get('content-length'), first.headers.get('content-length'))
  })

  test('inline has no effect without download', async () => {
    const file = await upload(app, owner, 'hello')
    const { body } = await get(`/api/v1/files/${file.id}?inline=true`)
    assert.deepEqual(body.data, file)
  })

  test('files of another org, deleted files, missing and malformed ids get byte-identical responses on every route', async () => {
    const foreign = await upload(app, stranger, 'theirs')
    const deleted = await upload(app, owner, 'deleted')
    await remove(deleted.id)
    const ids = [foreign.id, deleted.id, newId(), 'nonsense', foreign.id.toUpperCase()]
    const calls: ((id: string) => Promise<Answer>)[] = [
      (id) => get(`/api/v1/files/${id}`),
      (id) => get(`/api/v1/files/${id}?download=true`),
      (id) => get(inline(id)),
      (id) => get(`/api/v1/files/${id}/preview`),
      (id) => app.call('PATCH', `/api/v1/files/${id}`, { as: owner, json: { name: 'mine' } }),
      remove,
    ]
    const texts = new Set<string>()
    for (const call of calls) {
      for (const id of ids) {
        const response = await call(id)
        assert.equal(response.status, 404)
        texts.add(response.text)
      }
    }
    assert.deepEqual([...texts], ['{"success":false,"error":{"code":"NOT_FOUND","message":"File not found"}}'])
    assert.equal((await app.call('GET', `/api/v1/files/${foreign.id}`, { as: stranger })).body.data.name, 'file.txt')
  })

  test('a file is found by its id in any case', async () => {
    const file = await upload(app, owner, 'hello')
    assert.equal((await get(`/api/v1/files/${file.id.toUpperCase()}`)).body.data?.id, file.id)
    assert.equal((await get(`/api/v1/files/${file.id.toUpperCase()}/preview`)).body.data?.fileId, file.id)
    const url = (await signed(file.id)).replace(file.id, file.id.toUpperCase())
    assert.equal((await app.call('GET', url)).text, 'hello')
  })

  test('reading a file requires files:read', async () => {
    const file = await upload(app, owner, 'hello')
    const writer = await app.createUser(owner, 'member', { scopes: ['files:write'] })
    for (const path of [`/api/v1/files/${file.id}`, inline(file.id), '/api/v1/files']) {
      assert.equal((await app.call('GET', path, { as: writer })).body.error.code, 'FORBIDDEN')
    }
  })

  test('downloading a folder is BAD_REQUEST', async () => {
    const folder = await createFolder(app, owner, 'folder')
    for (const query of ['?download=true', '?download=true&inline=true']) {
      const { body } = await get(`/api/v1/files/${folder.id}${query}`)
      assert.equal(body.error.code, 'BAD_REQUEST')
    }
  })
})

describe('a download', () => {
  test('a download redirects to a signed URL that needs no key and states the file name in both forms', async () => {
    const file = await upload(app, owner, 'hello', { name: "Ärger's (1) 100% \u202E\u{1F600}.txt" })
    const { status, headers, text } = await get(`/api/v1/files/${file.id}?download=true`)
    assert.deepEqual([status, text], [302, ''])
    assert.equal(headers.get('cache-control'), 'no-store')
    const response = await app.call('GET', pathOf(app, headers.get('location') ?? ''))
    assert.deepEqual([response.status, response.text], [200, 'hello'])
    assert.equal(response.headers.get('content-type'), 'text/plain')
    assert.equal(
      response.headers.get('content-disposition'),
      `attachment; filename="_rger's (1) 100_ __.txt"; filename*=UTF-8''%C3%84rger%27s%20%281%29%20100%25%20%E2%80%AE%F0%9F%98%80.txt`,
    )
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  })

  test('quotes, backslashes and control characters in a name cannot break out of Content-Disposition', async () => {
    for (const name of ['a"; filename=evil.exe; x="', String.raw`\\server\share`, 'tab\tbell\u0007del\u007f']) {
      const { file, uploadUrl } = await create(app, owner, { name, mimeType: 'text/plain', size: 1 })
      await app.call('PUT', pathOf(app, uploadUrl), { body: 'x' })
      for (const response of [await app.call('GET', await signed(file.id)), await get(inline(file.id))]) {
        const disposition = response.headers.get('content-disposition') ?? ''
        const [, plain = '', extended = ''] =
          /^\w+; filename="([^"\\]*)"; filename\*=UTF-8''(\S+)$/.exec(disposition) ?? []
        assert.ok(/^[\x20-\x7e]+$/.test(plain), disposition)
        assert.equal(decodeURIComponent(extended), name)
      }
    }
  })

  test('a download URL is valid for five minutes', async () => {
    const file = await upload(app, owner, 'hello')
    const token = new URLSearchParams((await signed(file.id)).split('?')[1]).get('token') ?? ''
    const expires = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).at(-1)
    assert.ok(Math.abs(expires - Date.now() / 1_000 - 300) < 60)
    const expired = signToken(app.deps.secrets.deriveKeys('signed URLs'), {
      op: 'get',
      orgId: owner.orgId,
      fileId: file.id,
      contentType: 'text/plain',
      sizeBytes: 5,
      disposition: 'attachment',
      expiresAt: new Date(Date.now() - 1_000),
    })
    const { body } = await app.call('GET', `/api/v1/files/${file.id}/content?token=${expired}`)
    assert.equal(body.error.code, 'FORBIDDEN')
  })

  test('a download URL works for its own file only, and not when it is changed', async () => {
    const file = await upload(app, owner, 'hello')
    const other = await upload(app, owner, 'other')
    const path = await signed(file.id)
    for (const wrong of [path.replace(file.id, other.id), `${path}x`, path.replace(/\?.*/, ''), path.slice(0, -1)]) {
      const { status, body } = await app.call('GET', wrong)
      assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
    }
  })

  test('a download URL stops working when its file or the target of its link is deleted', async () => {
    const file = await upload(app, owner, 'dies')
    const shared = await upload(app, owner, 'dies')
    const pointer = await link(file.id)
    const paths = [await signed(file.id), await signed(pointer.id)]
    await remove(file.id)
    for (const path of paths) assert.equal((await app.call('GET', path)).body.error.code, 'NOT_FOUND')
    assert.equal((await app.call('GET', await signed(shared.id))).text, 'dies')
  })
})

describe('inline', () => {
  const shown: [string, string, string | Buffer][] = [
    ['text/plain', 'text/plain; charset=utf-8', 'grüß dich'],
    ['text/markdown', 'text/markdown; charset=utf-8', '# Grüße'],
    ['text/html', 'text/plain; charset=utf-8', '<script>alert(1)</script>'],
    ['image/svg+xml', 'text/plain; charset=utf-8', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'],
    ['application/xml', 'text/plain; charset=utf-8', '<a/>'],
    ['text/xml', 'text/plain; charset=utf-8', '<a/>'],
    ['application/xhtml+xml', 'text/plain; charset=utf-8', '<html/>'],
    ['application/json', 'application/json', '{}'],
    ['image/png', 'image/png', Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')],
  ]
  for (const [type, sentAs, bytes] of shown) {
    test(`inline ${type} is sent as ${sentAs} in a sandbox`, async () => {
      const file = await upload(app, owner, bytes, { type, name: 'ünï.x' })
      const { status, headers } = await get(inline(file.id))
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), sentAs)
      assert.equal(
        headers.get('content-security-policy'),
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors 'self'; sandbox",
      )
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('content-disposition'), `inline; filename="_n_.x"; filename*=UTF-8''%C3%BCn%C3%AF.x`)
    })
  }

  test('inline PDF is not sandboxed, because browsers would not display it', async () => {
    const file = await upload(app, owner, '%PDF-1.7 …', { type: 'application/pdf', name: 'a.pdf' })
    const { headers } = await get(inline(file.id))
    assert.equal(headers.get('content-type'), 'application/pdf')
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors 'self'",
    )
  })
})

describe('links', () => {
  test('a link has its own record and downloads the bytes of its target under its own name', async () => {
    const file = await upload(app, owner, 'target bytes', { name: 'target.txt' })
    const named = await link(file.id, 'pointer.txt')
    assert.deepEqual(
      [named.source, named.name, named.mimeType, named.size, named.storageKey, named.targetFileId, named.status],
      ['link', 'pointer.txt', null, 0, null, file.id, 'ready'],
    )
    assert.equal((await link(file.id)).name, 'target.txt')
    const response = await app.call('GET', await signed(named.id))
    assert.equal(response.text, 'target bytes')
    assert.equal(response.headers.get('content-type'), 'text/plain')
    assert.match(response.headers.get('content-disposition') ?? '', /filename="pointer\.txt"/)
    assert.equal((await get(inline(named.id))).text, 'target bytes')
  })

  test('a link to a link points to the final target', async () => {
    const file = await upload(app, owner, 'end')
    const first = await link(file.id)
    const second = await link(first.id)
    assert.equal(second.targetFileId, file.id)
    await remove(first.id)
    assert.equal((await get(inline(second.id))).text, 'end')
  })

  test('a link to a deleted file keeps its record, and downloading it is NOT_FOUND', async () => {
    const file = await upload(app, owner, 'gone')
    const pointer = await link(file.id)
    await remove(file.id)
    assert.equal((await get(`/api/v1/files/${pointer.id}`)).status, 200)
    for (const path of [`/api/v1/files/${pointer.id}?download=true`, inline(pointer.id)]) {
      assert.equal((await get(path)).body.error.code, 'NOT_FOUND')
    }
    const { body } = await app.call('POST', '/api/v1/files', {
      as: owner,
      json: { source: 'link', targetFileId: pointer.id },
    })
    assert.equal(body.error.code, 'NOT_FOUND')
    assert.equal((await remove(pointer.id)).status, 200)
  })

  test('a link to a folder is rejected; a link to a missing, deleted or foreign file is NOT_FOUND with the same message', async () => {
    const folder = await createFolder(app, owner, 'folder')
    const foreign = await upload(app, stranger, 'theirs')
    const deleted = await upload(app, owner, 'x')
    await remove(deleted.id)
    const post = (targetFileId: string) =>
      app.call('POST', '/api/v1/files', { as: owner, json: { source: 'link', targetFileId } })
    assert.equal((await post(folder.id)).body.error.code, 'BAD_REQUEST')
    const responses = await Promise.all([foreign.id, deleted.id, newId()].map(post))
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([404]))
    assert.equal(new Set(responses.map(({ text }) => text)).size, 1)
  })

  test('a link to a pending file can be downloaded once the file is uploaded', async () => {
    const { file, uploadUrl } = await create(app, owner, { name: 'a', mimeType: 'text/plain', size: 4 })
    const pointer = await link(file.id)
    assert.equal((await get(inline(pointer.id))).body.error.code, 'CONFLICT')
    await app.call('PUT', pathOf(app, uploadUrl), { body: 'late' })
    assert.equal((await get(inline(pointer.id))).text, 'late')
  })
})

describe('ranges and conditions', async () => {
  const bytes = randomBytes(300_000)
  const file = await upload(app, owner, bytes, { type: 'application/octet-stream' })
  const etag = `"${file.contentHash}"`
  const paths = { 'the signed URL': await signed(file.id), inline: inline(file.id) }

  const raw = async (path: string, headers: Record<string, string>, method = 'GET') => {
    const response = await fetch(app.url + path, {
      method,
      headers: { authorization: `Bearer ${owner.key}`, ...headers },
    })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }

  for (const [what, path] of Object.entries(paths)) {
    const parts: [string, number, number][] = [
      ['bytes=0-0', 0, 0],
      ['bytes=0-299999', 0, 299_999],
      ['bytes=100000-200000', 100_000, 200_000],
      ['bytes=299999-', 299_999, 299_999],
      ['bytes=299999-999999999', 299_999, 299_999],
      ['bytes=-1', 299_999, 299_999],
      ['bytes=-999999', 0, 299_999],
      ['Bytes=5-7', 5, 7],
    ]
    for (const [range, start, end] of parts) {
      test(`${what} returns the part of the range ${range}`, async () => {
        const response = await raw(path, { range })
        assert.equal(response.status, 206)
        assert.equal(response.headers.get('content-range'), `bytes ${start}-${end}/300000`)
        assert.equal(response.headers.get('content-length'), String(end - start + 1))
        assert.ok(response.bytes.equals(bytes.subarray(start, end + 1)))
      })
    }

    for (const range of ['bytes=1-0', 'bytes=a-b', 'bytes=', 'bytes=-', 'lines=0-1', 'bytes=0-1,3-4', '0-1']) {
      test(`${what} ignores the range ${JSON.stringify(range)}`, async () => {
        const response = await raw(path, { range })
        assert.equal(response.status, 200)
        assert.equal(response.headers.get('content-range'), null)
        assert.ok(response.bytes.equals(bytes))
      })
    }

    for (const range of ['bytes=300000-', 'bytes=300000-300001', 'bytes=-0', 'bytes=99999999999999999999-']) {
      test(`${what} rejects the range ${range} with 416 and the size`, async () => {
        const response = await raw(path, { range })
        assert.equal(response.status, 416)
        assert.equal(response.headers.get('content-range'), 'bytes */300000')
        assert.equal(response.bytes.length, 0)
      })
    }

    test(`${what} accepts only the strong ETag in If-Range`, async () => {
      const range = 'bytes=0-4'
      assert.equal((await raw(path, { range, 'if-range': etag })).status, 206)
      for (const other of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2026 00:00:00 GMT']) {
        assert.equal((await raw(path, { range, 'if-range': other })).status, 200)
      }
    })

    test(`${what} returns 304 for a matching If-None-Match, with any range`, async () => {
      for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const response = await raw(path, { 'if-none-match': tags, range: 'bytes=0-4' })
        assert.equal(response.status, 304)
        assert.equal(response.headers.get('etag'), etag)
        assert.equal(response.bytes.length, 0)
      }
      assert.equal((await raw(path, { 'if-none-match': '"other"' })).status, 200)
    })

    test(`${what} returns the headers of GET to HEAD, with ranges`, async () => {
      for (const range of [undefined, 'bytes=10-19', 'bytes=300000-']) {
        const headers: Record<string, string> = range === undefined ? {} : { range }
        const whole = await raw(path, headers)
        const head = await raw(path, headers, 'HEAD')
        assert.equal(head.status, whole.status)
        assert.equal(head.bytes.length, 0)
        for (const name of ['content-length', 'content-range', 'content-type', 'etag', 'accept-ranges']) {
          assert.equal(head.headers.get(name), whole.headers.get(name), name)
        }
      }
    })
  }

  test('HEAD of a download redirects like GET', async () => {
    const head = await get(`/api/v1/files/${file.id}?download=true`, {}, 'HEAD')
    assert.equal(head.status, 302)
    assert.ok(head.headers.get('location')?.startsWith(`${app.url}/api/v1/files/${file.id}/content?token=`))
  })

  test('every range of an empty file is unsatisfiable', async () => {
    const empty = await upload(app, owner, '')
    const response = await raw(inline(empty.id), { range: 'bytes=0-' })
    assert.equal(response.status, 416)
    assert.equal(response.headers.get('content-range'), 'bytes */0')
  })

  test('a pipelining client that reads slowly gets every byte', async () => {
    const [response] = await sendRaw(
      app.url,
      `GET ${paths['the signed URL']} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    assert.ok(Buffer.from(response?.body ?? '', 'latin1').equals(bytes))
  })
})

describe('a file of more than 4 GB', async () => {
  await app.db.execute(sql`
    insert into org_quotas (org_id, name, value) values (${owner.orgId}, 'storedBytes', null)`)
  const size = 5_497_558_138_880
  const marks = new Map([
    [0, 'begin'],
    [2 ** 31 - 3, 'two31'],
    [2 ** 32 - 3, 'two32'],
    [size - 5, 'theend'.slice(0, 5)],
  ])

  /** A file of 5 TB. On the disk it is sparse: only the marks use space. */
  const uploadLarge = async (parentId: string) => {
    const as = owner
    const bytes = randomBytes(16)
    const file = await upload(app, as, bytes, { name: 'large', type: 'application/octet-stream', parentId })
    const [folder = '', name = ''] = file.storageKey.split('/')
    const handle = await open(join(app.deps.config.dataDir, 'objects', folder, name.slice(0, 6), name), 'r+')
    // The file systems of tests have at most 16 TB for each file.
    await handle.truncate(size)
    for (const [at, mark] of marks) await handle.write(mark, at)
    await handle.close()
    const { orgId } = as
    await app.db.execute(sql`
      update files set size_bytes = 2147483647, large_bytes = ${size} where org_id = ${orgId} and id = ${file.id}`)
    await app.db.execute(sql`
      update blobs set size_bytes = 2147483647, large_bytes = ${size}
      where org_id = ${orgId} and id = ${name}`)
    await app.db.execute(sql`
      update org_file_usage set stored_bytes = stored_bytes + ${size - bytes.length}::bigint
      where org_id = ${orgId} and slot = (select min(slot) from org_file_usage where org_id = ${orgId})`)
    return file
  }

  test('is served by ranges on both sides of 2^31 and 2^32', async () => {
    const folder = await createFolder(app, owner, 'large ranges')
    const { id } = await uploadLarge(folder.id)
    assert.equal((await get(`/api/v1/files/${id}`)).body.data.size, size)
    const path = await signed(id)
    for (const [at, mark] of marks) {
      const { status, text, headers } = await get(path, { range: `bytes=${at}-${at + 4}` })
      assert.deepEqual([status, text], [206, mark])
      assert.equal(headers.get('content-range'), `bytes ${at}-${at + 4}/${size}`)
    }
    assert.equal((await get(path, { range: 'bytes=-5' })).text, 'theen')
    assert.equal((await get(path, { range: `bytes=${size}-` })).status, 416)
    assert.equal((await get(path, {}, 'HEAD')).headers.get('content-length'), String(size))
    await get(`/api/v1/files/${id}?permanent=true`, {}, 'DELETE')
    await app.settled()
  })

  test('is listed by its size, becomes a version, is copied, deleted and restored, and counts with all its bytes', async () => {
    const folder = await createFolder(app, owner, 'large life')
    const file = await uploadLarge(folder.id)
    const small = await upload(app, owner, 'x', { parentId: folder.id })
    const used = async (): Promise<number> =>
      (await get('/api/v1/quotas')).body.data.items.find(({ name }: { name: string }) => name === 'storedBytes').used
    const list = async (query: string) =>
      (await get(`/api/v1/files?parentId=${folder.id}&${query}`)).body.data.items.map(({ id }: { id: string }) => id)
    assert.deepEqual(await list('sort=size'), [small.id, file.id])
    assert.deepEqual(await list('sort=size&order=desc'), [file.id, small.id])
    const { nextCursor } = (await get(`/api/v1/files?parentId=${folder.id}&sort=size&order=desc&limit=1`)).body.data
    assert.deepEqual(await list(`sort=size&order=desc&cursor=${nextCursor}`), [small.id])
    await countsAreExact(app, owner.orgId)

    const before = await used()
    const put = await app.call('PUT', `/api/v1/files/${file.id}/content`, { as: owner, body: Buffer.from('new') })
    assert.equal(put.body.data.file.size, 3, put.text)
    const versions = await get(`/api/v1/files/${file.id}/versions`)
    assert.deepEqual(
      versions.body.data.items.map((one: { size: number }) => one.size),
      [3, size],
    )
    assert.equal((await used()) - before, 3)
    const restored = await app.call('POST', `/api/v1/files/${file.id}/versions/1/restore`, { as: owner })
    assert.equal(restored.status, 200, restored.text)
    assert.equal((await get(`/api/v1/files/${file.id}`)).body.data.size, size)
    assert.equal((await used()) - before, size + 3)
    await countsAreExact(app, owner.orgId)

    const copied = await fetch(`${app.url}/dav/large%20life/large`, {
      method: 'COPY',
      headers: { authorization: `Bearer ${owner.key}`, destination: `${app.url}/dav/large%20life/copy` },
    })
    assert.equal(copied.status, 201, await copied.text())
    assert.equal((await used()) - before, 2 * size + 3)
    await remove(folder.id)
    await countsAreExact(app, owner.orgId)
    assert.equal((await used()) - before, 2 * size + 3, 'the trash counts')
    assert.equal((await app.call('POST', `/api/v1/files/${folder.id}/restore`, { as: owner })).status, 200)
    assert.equal((await list('sort=size')).length, 3)
    await get(`/api/v1/files/${folder.id}?permanent=true`, {}, 'DELETE')
    await app.settled()
    await countsAreExact(app, owner.orgId)
  })
})
