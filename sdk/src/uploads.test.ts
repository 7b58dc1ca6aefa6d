import assert from 'node:assert/strict'
import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import { createClient, uploadFile } from './index.ts'
import type { ClientOptions, Fetch, UploadProgress } from './index.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const clientOf = (options: ClientOptions = {}) => createClient({ baseUrl: app.url, apiKey: owner.key, ...options })
const client = clientOf()

const download = async (id: string): Promise<Buffer> => {
  const query = { download: true, inline: true }
  const response = await client.send('GET /files/:id', { params: { id }, query })
  return Buffer.from(await response.arrayBuffer())
}

/** A fetch whose responses to PUT do not arrive, after the server has stored the bytes. */
const losingPuts = (count: number) => {
  const sent: RequestInit[] = []
  const lossy: Fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (init.method !== 'PUT') return response
    sent.push(init)
    if (sent.length > count) return response
    await response.arrayBuffer()
    throw new TypeError('fetch failed')
  }
  return { sent, fetch: lossy }
}

const filesNamed = async (search: string): Promise<number> =>
  (await client.call('GET /files', { query: { search } })).total

describe('uploadFile', () => {
  test('stores the bytes of a string, an array and a File with their name, type and folder', async () => {
    const { file: folder } = await client.call('POST /files', { body: { source: 'folder', name: 'Inbox' } })
    const text = await uploadFile(client, { content: 'Grüße', name: 'a.txt', mimeType: 'text/plain' })
    assert.deepEqual([text.status, text.size, text.mimeType], ['ready', 7, 'text/plain'])
    assert.equal((await download(text.id)).toString(), 'Grüße')
    const bytes = await uploadFile(client, { content: new Uint8Array([1, 2, 3]), name: 'b.bin', parentId: folder.id })
    assert.deepEqual([bytes.mimeType, bytes.parentId], ['application/octet-stream', folder.id])
    const file = await uploadFile(client, { content: new File(['x,y\n'], 'c.csv', { type: 'text/csv;charset=utf-8' }) })
    assert.deepEqual([file.name, file.mimeType, file.size], ['c.csv', 'text/csv', 4])
    const empty = await uploadFile(client, { content: '', name: 'empty.txt', mimeType: 'text/plain' })
    assert.deepEqual([empty.status, empty.size], ['ready', 0])
  })

  test('sends a file from disk and reports its progress', async () => {
    const path = join(tmpdir(), `upload-${process.pid}.bin`)
    const content = Buffer.alloc(3_000_000, 'atrium')
    await writeFile(path, content)
    const seen: UploadProgress[] = []
    const file = await uploadFile(client, {
      content: await openAsBlob(path),
      name: 'large.bin',
      onProgress: (progress) => seen.push(progress),
    })
    assert.ok(seen.length > 1)
    assert.ok(seen.every(({ sentBytes }, i) => sentBytes > (seen[i - 1]?.sentBytes ?? 0)))
    assert.deepEqual(seen.at(-1), { sentBytes: content.length, totalBytes: content.length })
    assert.ok(content.equals(await download(file.id)))
  })

  test('stores one file when the responses to both requests are lost, and sends no key to the signed URL', async () => {
    const { sent, fetch } = losingPuts(1)
    const file = await uploadFile(clientOf({ fetch }), { content: 'once', name: 'once.txt', mimeType: 'text/plain' })
    assert.deepEqual([file.status, file.name, sent.length], ['ready', 'once.txt', 2])
    assert.equal(await filesNamed('once.txt'), 1)
    assert.ok(sent.every(({ headers }) => !new Headers(headers).has('authorization')))
  })

  test('stores one file when a program repeats the upload with its key', async () => {
    const options = { content: 'again', name: 'again.txt', mimeType: 'text/plain', idempotencyKey: 'import-17' }
    const first = await uploadFile(client, options)
    const second = await uploadFile(client, options)
    assert.deepEqual([second.id, second.status, await filesNamed('again.txt')], [first.id, 'ready', 1])
  })

  test('rejects with the abort reason and stops sending when it is aborted', async () => {
    const abort = new AbortController()
    const content = new Uint8Array(20_000_000)
    const uploading = uploadFile(client, {
      content,
      name: 'aborted.bin',
      signal: abort.signal,
      onProgress: () => abort.abort(new Error('cancelled by the user')),
    })
    await assert.rejects(uploading, /cancelled by the user/)
    const { items } = await client.call('GET /files', { query: { search: 'aborted.bin' } })
    assert.deepEqual(
      items.map(({ status }) => status),
      ['pending'],
    )
  })

  test('rejects with the error of the server, and without a request when the name is missing', async () => {
    const program = { content: 'MZ', name: 'setup.exe', mimeType: 'application/x-msdownload' }
    await assert.rejects(uploadFile(client, program), { code: 'BAD_REQUEST' })
    await assert.rejects(uploadFile(client, { content: 'x' }), TypeError)
  })
})
