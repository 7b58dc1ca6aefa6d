import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import {
  boundary,
  createFolder,
  formBody,
  formType,
  leavesNothing,
  sendForm,
  traces,
  upload,
} from '../../../test/support/files.ts'
import type { Part } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { newId } from '../../platform/ids.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const stranger = await app.createOrg()

const nothingLeft = async (code: string, rejected: () => Promise<Answer>): Promise<void> => {
  await leavesNothing(app, code, rejected)
}

const maxBytes = 104_857_600
const text = (value = 'hello', more: Partial<Part> = {}): Part => ({
  name: 'file',
  filename: 'hello.txt',
  type: 'text/plain',
  value,
  ...more,
})

describe('POST /files, multipart', () => {
  test('an uploaded file is stored byte for byte and its record has its size, type and hash', async () => {
    const { status, body } = await sendForm(app, owner, [text('hello')])
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body.data), ['file'])
    const { file } = body.data
    assert.deepEqual(
      { ...file, id: '', storageKey: '', storageUrl: '', createdAt: '', updatedAt: '' },
      {
        id: '',
        name: 'hello.txt',
        mimeType: 'text/plain',
        size: 5,
        parentId: null,
        projectId: null,
        source: 'upload',
        targetFileId: null,
        tags: [],
        isProtected: false,
        status: 'ready',
        storageKey: '',
        storageUrl: '',
        contentHash: createHash('sha256').update('hello').digest('hex'),
        createdBy: owner.userId,
        createdAt: '',
        version: 1,
        updatedAt: '',
      },
    )
    assert.match(file.storageKey, new RegExp(`^${owner.orgId}/[0-9a-f-]{36}$`))
    assert.equal(file.storageUrl, `${app.url}/api/v1/files/${file.id}?download=true`)
    assert.match(file.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('an upload form may have its fields before or after the file', async () => {
    const folder = await createFolder(app, owner, 'target')
    const field: Part = { name: 'parentId', value: folder.id }
    for (const parts of [
      [field, text()],
      [text(), field],
      [{ name: 'note', value: 'ignored' }, text(), { name: 'other', value: 'x' }, field],
    ]) {
      const { status, body } = await sendForm(app, owner, parts)
      assert.equal(status, 201)
      assert.equal(body.data.file.parentId, folder.id)
    }
  })

  test('a type is stored in lower case and without parameters', async () => {
    const file = await upload(app, owner, 'a', { type: 'Text/Markdown; charset=UTF-8' })
    assert.equal(file.mimeType, 'text/markdown')
  })

  test('a form part without a type is text/plain, as RFC 7578 says', async () => {
    const { body } = await sendForm(app, owner, [{ name: 'file', filename: 'a', value: 'a' }])
    assert.equal(body.data.file.mimeType, 'text/plain')
  })

  test('an empty file can be uploaded', async () => {
    const file = await upload(app, owner, '', { type: 'application/pdf' })
    assert.equal(file.size, 0)
    assert.equal(file.status, 'ready')
    const { status, text } = await app.call('GET', `/api/v1/files/${file.id}?download=true&inline=true`, { as: owner })
    assert.deepEqual([status, text], [200, ''])
  })

  for (const [what, name, stored] of [
    ['emoji and joiners', '👩‍👩‍👧‍👦 family.txt', undefined],
    ['right-to-left', 'دليل المستخدم‮gpj.txt', undefined],
    ['combining marks', 'e\u0301te\u0301.txt', undefined],
    ['a path upwards', '../../etc/passwd', undefined],
    ['a Windows path', String.raw`C:\fakepath\x.txt`.replaceAll('\\', '\\\\'), String.raw`C:\fakepath\x.txt`],
    ['a device name', 'con', undefined],
    ['dots only', '..', undefined],
    ['trailing dots and spaces', ' name. . ', undefined],
    ['a quote as browsers send it', 'say %22hi%22.txt', 'say "hi".txt'],
    ['a quote escaped as in RFC 822', String.raw`say \"hi\".txt`, 'say "hi".txt'],
    ['a percent sign', '100%.txt', undefined],
    ['255 characters outside the BMP', '𝒳'.repeat(255), undefined],
    ['characters that grow when composed', '\u{1D160}'.repeat(255), undefined],
    ['capitals that grow in lower case', 'İ'.repeat(255), undefined],
  ] as const) {
    test(`a name with ${what} is stored unchanged`, async () => {
      const { status, body, text: response } = await sendForm(app, owner, [text('x', { filename: name })])
      assert.equal(status, 201, response)
      assert.equal(body.data.file.name, stored ?? name)
      const found = await app.call('GET', `/api/v1/files/${body.data.file.id}`, { as: owner })
      assert.equal(found.body.data.name, stored ?? name)
    })
  }

  const rejected: [string, Part[]][] = [
    ['no parts', []],
    ['no file', [{ name: 'parentId', value: newId() }]],
    ['two files', [text('a'), text('b')]],
    ['the file twice, the second empty', [text('a'), text('', { filename: '' })]],
    ['a file under another name', [text('a', { name: 'upload' })]],
    ['a second file under another name', [text('a'), text('b', { name: 'more' })]],
    ['a file that is only a field', [{ name: 'file', value: 'hello' }]],
    ['a file without a name', [text('a', { filename: '' })]],
    ['256 characters', [text('a', { filename: '𝒳'.repeat(256) })]],
    ['a line feed in the name, as browsers send it', [text('a', { filename: 'a%0Ab' })]],
    ['a carriage return in the name, as browsers send it', [text('a', { filename: 'a%0Db' })]],
    ['NUL in the name', [text('a', { filename: 'a\0b' })]],
    ['a type that is not stored', [text('a', { type: 'application/x-msdownload' })]],
    ['a shell script', [text('a', { type: 'application/x-sh' })]],
    ['an invalid type', [text('a', { type: 'nonsense' })]],
    ['a malformed parentId', [text(), { name: 'parentId', value: 'nonsense' }]],
    ['an empty parentId', [text(), { name: 'parentId', value: '' }]],
    ['a malformed parentId before the file', [{ name: 'parentId', value: 'x' }, text()]],
    ['a missing parent', [text(), { name: 'parentId', value: newId() }]],
    ['parentId twice', [text(), { name: 'parentId', value: newId() }, { name: 'parentId', value: newId() }]],
    ['a malformed projectId', [text(), { name: 'projectId', value: 'x' }]],
    ['a parentId of a megabyte', [text(), { name: 'parentId', value: 'x'.repeat(1_048_576) }]],
    ['a thousand fields', [text(), ...Array.from({ length: 1_000 }, () => ({ name: 'x', value: 'y' }))]],
    ['a field called __proto__', [text(), { name: '__proto__', value: 'x' }]],
  ]
  for (const [what, parts] of rejected) {
    test(`an upload rejects ${what} and leaves nothing behind`, () =>
      nothingLeft('BAD_REQUEST', () => sendForm(app, owner, parts)))
  }

  test('an upload rejects a parent that is a file, a link, deleted or foreign with the same message', async () => {
    const file = await upload(app, owner, 'target')
    const link = (
      await app.call('POST', '/api/v1/files', { as: owner, json: { source: 'link', targetFileId: file.id } })
    ).body.data.file
    const deleted = await createFolder(app, owner, 'deleted')
    await app.call('DELETE', `/api/v1/files/${deleted.id}`, { as: owner })
    const foreign = await createFolder(app, stranger, 'foreign')
    const responses: string[] = []
    for (const id of [file.id, link.id, deleted.id, foreign.id, newId()]) {
      const response = await leavesNothing(app, 'BAD_REQUEST', () =>
        sendForm(app, owner, [text('x'), { name: 'parentId', value: id }]),
      )
      responses.push(response.text)
    }
    assert.equal(new Set(responses).size, 1)
  })

  test('an upload into an unknown project is NOT_FOUND and leaves nothing behind', () =>
    nothingLeft('NOT_FOUND', () => sendForm(app, owner, [text('x'), { name: 'projectId', value: newId() }])))

  test('an upload without files:write is rejected before its body is read', async () => {
    const reader = await app.createUser(owner, 'member', { scopes: ['files:read'] })
    await leavesNothing(app, 'FORBIDDEN', () => sendForm(app, reader, [text('x')]))
    const before = await traces(app)
    const { status } = await app.call('POST', '/api/v1/files', {
      body: formBody([text('x')]),
      headers: { 'content-type': formType },
    })
    assert.equal(status, 401)
    assert.deepEqual(await traces(app), before)
  })

  test('the error of an upload names the problem of a well-formed form', async () => {
    const extra = (part: Partial<Part>): Part => ({ name: 'note', value: 'x', ...part })
    for (const [parts, reason] of [
      [[extra({ name: 'toString' })], /toString/],
      [[extra({ type: 'application/json' })], /JSON/],
      [Array.from({ length: 40 }, () => extra({})), /32 parts/],
    ] as const) {
      const { body } = await leavesNothing(app, 'BAD_REQUEST', () => sendForm(app, owner, [...parts, text()]))
      assert.match(body.error.message, reason)
    }
  })

  for (const [what, type] of [
    ['multipart without a boundary', 'multipart/form-data'],
    ['another kind of form', 'application/x-www-form-urlencoded'],
    ['plain text', 'text/plain'],
  ]) {
    test(`an upload rejects ${what}`, () =>
      nothingLeft('BAD_REQUEST', () =>
        app.call('POST', '/api/v1/files', { as: owner, body: 'a=b', headers: { 'content-type': type as string } }),
      ))
  }
})

const sendLarge = (size: number, length: 'declared' | 'chunked') => {
  const start = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  )
  const body = Buffer.concat([start, Buffer.alloc(size, 7), Buffer.from(`\r\n--${boundary}--\r\n`)])
  return app.call('POST', '/api/v1/files', {
    as: owner,
    body: length === 'declared' ? body : new Blob([body]).stream(),
    headers: { 'content-type': formType },
  })
}

describe('the size of an upload', () => {
  test('a file of 100 MB can be uploaded', async () => {
    const before = await traces(app)
    const { status, body } = await sendLarge(maxBytes, 'declared')
    assert.equal(status, 201)
    assert.equal(body.data.file.size, maxBytes)
    await app.call('DELETE', `/api/v1/files/${body.data.file.id}?permanent=true`, { as: owner })
    await until('the bytes are deleted', async () => isDeepStrictEqual(await traces(app), before))
  })

  for (const length of ['declared', 'chunked'] as const) {
    test(`a file of 100 MB and one byte is rejected while it streams and leaves nothing behind (${length} length)`, () =>
      nothingLeft('BAD_REQUEST', () => sendLarge(maxBytes + 1, length)))
  }
})

describe('an upload under an Idempotency-Key', () => {
  const key = { 'content-type': formType, 'idempotency-key': 'form-1' }
  const send = (parts: Part[], headers: Record<string, string> = key) =>
    app.call('POST', '/api/v1/files', { as: owner, body: formBody(parts), headers })

  test('an upload with an Idempotency-Key runs once, is repeated identically, and is rejected for other bytes, another name or another place', async () => {
    const first = await send([text('once')])
    assert.equal(first.status, 201)
    const before = await traces(app)
    const again = await send([text('once')])
    assert.equal(again.status, 201)
    assert.equal(again.text, first.text)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    for (const parts of [
      [text('ONCE')],
      [text('once', { filename: 'other.txt' })],
      [text('once', { type: 'text/csv' })],
      [text('once'), { name: 'parentId', value: newId() }],
    ]) {
      const other = await send(parts)
      assert.equal(other.body.error.code, 'CONFLICT')
    }
    assert.deepEqual(await traces(app), before)
  })

  test('ten uploads at the same time with one Idempotency-Key create one file', async () => {
    const before = await traces(app)
    const headers = { ...key, 'idempotency-key': 'form-2' }
    const responses = await Promise.all(Array.from({ length: 10 }, () => send([text('ten at once')], headers)))
    assert.ok(responses.every(({ status }) => status === 201 || status === 409))
    assert.ok(responses.some(({ status }) => status === 201))
    assert.equal((await traces(app)).files, (before.files ?? 0n) + 1n)
  })

  test('an upload that was rejected leaves its Idempotency-Key free', async () => {
    const headers = { ...key, 'idempotency-key': 'form-3' }
    assert.equal((await send([text('x', { type: 'application/x-sh' })], headers)).status, 400)
    assert.equal((await send([text('x')], headers)).status, 201)
  })

  test('a JSON request with an Idempotency-Key runs once', async () => {
    const json = { source: 'folder', name: 'once' }
    const create = () =>
      app.call('POST', '/api/v1/files', { as: owner, json, headers: { 'idempotency-key': 'json-1' } })
    const [first, again] = [await create(), await create()]
    assert.equal(first.status, 201)
    assert.equal(again.text, first.text)
  })
})

/** Sends the beginning of a request and hangs up. */
const cutOff = async (bytes: Buffer, headers: string[], hangUp: 'end' | 'destroy'): Promise<void> => {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('error', () => undefined)
    socket.resume()
  })
  socket.write(
    `POST /api/v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.key}\r\nContent-Type: ${formType}\r\n${headers.join('\r\n')}\r\n\r\n`,
  )
  await new Promise<void>((resolve) => {
    socket.write(bytes, () => resolve())
  })
  if (hangUp === 'end') socket.end()
  else {
    await until('the upload is under way', async () => (await traces(app)).unfinished > 0)
    socket.destroy()
  }
  await closed
}

describe('an interrupted upload', () => {
  const complete = formBody([text('x'.repeat(300_000))])

  for (const hangUp of ['end', 'destroy'] as const) {
    test(`an upload that ends in the middle of its bytes leaves no row, object or temporary file (${hangUp})`, async () => {
      const before = await traces(app)
      await cutOff(complete.subarray(0, 200_000), [`Content-Length: ${complete.length}`], hangUp)
      await until('nothing of it is left', async () => isDeepStrictEqual(await traces(app), before))
    })
  }

  test('an upload without its closing boundary is rejected and leaves nothing behind', () =>
    nothingLeft('BAD_REQUEST', () => sendForm(app, owner, complete.subarray(0, 200_000))))

  test('an upload that ends after the file and before the end of the form is rejected and leaves nothing behind', () =>
    nothingLeft('BAD_REQUEST', () => sendForm(app, owner, formBody([text('x')], `--${boundary}\r\n`))))

  test('an empty upload form is rejected', () =>
    nothingLeft('BAD_REQUEST', () => sendForm(app, owner, Buffer.alloc(0))))
})
