import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { create } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { openAiPrefix } from './errors.ts'

const app = await startTestApp()
const clientFor = ({ key }: TestActor): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${app.url}${openAiPrefix}`, maxRetries: 0 })
const textFile = (name: string, text: string) => toFile(Buffer.from(text), name, { type: 'text/plain' })

test('the official client uploads, lists, reads and deletes files of the org', async () => {
  const owner = await app.createOrg()
  const { files } = clientFor(owner)
  const stored = await files.create({ file: await textFile('note.txt', 'Hello'), purpose: 'user_data' })
  assert.partialDeepStrictEqual(stored, { object: 'file', bytes: 5, filename: 'note.txt', purpose: 'user_data' })
  assert.ok(Math.abs(stored.created_at - Date.now() / 1_000) < 60)
  const native = await app.call('GET', `/api/v1/files/${stored.id}`, { as: owner })
  assert.deepEqual([native.body.data.name, native.body.data.mimeType], ['note.txt', 'text/plain'])
  assert.deepEqual(await files.retrieve(stored.id), stored)
  const content = await files.content(stored.id)
  assert.equal(await content.text(), 'Hello')
  assert.match(content.headers.get('content-disposition') ?? '', /^attachment/)
  assert.deepEqual((await files.list()).data, [stored])
  assert.deepEqual(await files.delete(stored.id), { id: stored.id, object: 'file', deleted: true })
  await assert.rejects(files.retrieve(stored.id), { status: 404, code: 'not_found' })
  assert.deepEqual((await files.list()).data, [])
})

test('a file that is uploaded as a stream gets the type of its extension', async () => {
  const owner = await app.createOrg()
  const path = join(app.config.dataDir, 'data.csv')
  await writeFile(path, 'a,b\n1,2\n')
  const stored = await clientFor(owner).files.create({ file: createReadStream(path), purpose: 'assistants' })
  const { body } = await app.call('GET', `/api/v1/files/${stored.id}`, { as: owner })
  assert.equal(body.data.mimeType, 'text/csv')
})

test('the pages of a list contain every stored file once, and no folder, link or pending file', async () => {
  const owner = await app.createOrg()
  const { files } = clientFor(owner)
  const ids: string[] = []
  for (const name of ['a.txt', 'b.txt', 'c.txt']) {
    ids.push((await files.create({ file: await textFile(name, name), purpose: 'user_data' })).id)
  }
  const { file: folder } = await create(app, owner, { source: 'folder', name: 'Folder' })
  await create(app, owner, { source: 'link', targetFileId: ids[0] })
  const { file: pending } = await create(app, owner, { name: 'p.txt', mimeType: 'text/plain', size: 5 })
  const listed = async (order: 'asc' | 'desc'): Promise<string[]> => {
    const found: string[] = []
    for await (const { id } of files.list({ limit: 2, order })) found.push(id)
    return found
  }
  assert.deepEqual(await listed('asc'), ids)
  assert.deepEqual(await listed('desc'), ids.toReversed())
  for (const id of [folder.id, pending.id, randomUUID()]) {
    await assert.rejects(files.retrieve(id), { status: 404 })
    await assert.rejects(files.delete(id), { status: 404 })
    await assert.rejects(files.content(id), { status: 404 })
  }
  assert.equal((await app.call('GET', `/api/v1/files/${folder.id}`, { as: owner })).status, 200)
})

test('rejects files of other orgs, keys without the permission, and purposes that do not exist here', async () => {
  const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
  const { files } = clientFor(owner)
  const { id } = await files.create({ file: await textFile('a.txt', 'a'), purpose: 'vision' })
  const foreign = clientFor(stranger).files
  assert.deepEqual((await foreign.list()).data, [])
  for (const work of [() => foreign.retrieve(id), () => foreign.content(id), () => foreign.delete(id)]) {
    await assert.rejects(work(), { status: 404 })
  }
  const reader = clientFor(await app.createUser(owner, 'member', { scopes: ['files:read'] })).files
  assert.equal((await reader.list()).data.length, 1)
  await assert.rejects(reader.delete(id), { status: 403 })
  await assert.rejects(reader.create({ file: await textFile('b.txt', 'b'), purpose: 'user_data' }), { status: 403 })
  const batch = { file: await textFile('b.jsonl', '{}'), purpose: 'batch' } as const
  await assert.rejects(files.create(batch), { status: 400, code: 'unsupported_parameter', param: 'purpose' })
  const file = await toFile(Buffer.from('x'), 'x.exe', { type: 'application/x-msdownload' })
  await assert.rejects(files.create({ file, purpose: 'user_data' }), { status: 400 })
  assert.equal((await files.list()).data.length, 1)
})

test('a repeated upload with the same Idempotency-Key stores one file', async () => {
  const owner = await app.createOrg()
  const { files } = clientFor(owner)
  const options = { headers: { 'idempotency-key': randomUUID() } }
  const upload = async () => files.create({ file: await textFile('a.txt', 'a'), purpose: 'user_data' }, options)
  assert.equal((await upload()).id, (await upload()).id)
  assert.equal((await files.list()).data.length, 1)
})
