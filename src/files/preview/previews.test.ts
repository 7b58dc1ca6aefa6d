import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { childrenWith } from '../../../test/support/child-processes.ts'
import * as documents from '../../../test/support/documents.ts'
import { create, pathOf, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'
import { createPreviewer } from './previewer.ts'
import { cachedPreview } from './previews.ts'

const app = await startTestApp()

const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const docx = (text: string): Buffer => documents.docx({ body: documents.paragraph(text) })

const preview = (as: TestActor, id: string) => app.call('GET', `/api/v1/files/${id}/preview`, { as })

const reading = (): Promise<number[]> => childrenWith('preview/child.ts')

const keptOf = (org: TestActor) =>
  app.db.rows<{ format: string; payload: Buffer | null; refusal: string | null }>(sql`
    select format, payload, refusal from previews where org_id = ${org.orgId} order by created_at`)

/** Puts something into the kept previews of an org that no reading would give. */
const plant = (org: TestActor, text: string) =>
  app.db.execute(sql`
    update previews set payload = ${zstdCompressSync(JSON.stringify({ kind: 'document', truncated: false, text }))}
    where org_id = ${org.orgId}`)

test('a preview has the id, name and type of the file or link and the content of its bytes', async () => {
  const actor = await app.createOrg()
  const file = await upload(app, actor, docx('hello'), { name: 'letter.docx', type: docxType })
  const { status, body } = await preview(actor, file.id)
  assert.equal(status, 200)
  assert.deepEqual(body.data, {
    fileId: file.id,
    name: 'letter.docx',
    mimeType: docxType,
    kind: 'document',
    truncated: false,
    text: 'hello',
    html: '<p>hello</p>',
  })
  const { file: link } = await create(app, actor, { source: 'link', name: 'link', targetFileId: file.id })
  const linked = await preview(actor, link.id)
  assert.deepEqual([linked.body.data.fileId, linked.body.data.text], [link.id, 'hello'])

  const csv = await upload(app, actor, 'a;b\n1;2\n', { name: 'a.csv', type: 'text/csv' })
  assert.deepEqual((await preview(actor, csv.id)).body.data.sheets, [
    {
      name: '',
      rows: [
        ['a', 'b'],
        ['1', '2'],
      ],
      rowCount: 2,
      columnCount: 2,
      truncated: false,
    },
  ])
})

test('the same bytes are read once per org, and a stored preview is never returned to another org', async () => {
  const [actor, other] = [await app.createOrg(), await app.createOrg()]
  const bytes = docx('the same')
  const one = await upload(app, actor, bytes, { name: 'one.docx', type: docxType })
  const two = await upload(app, actor, bytes, { name: 'two.docx', type: docxType })
  const theirs = await upload(app, other, bytes, { name: 'theirs.docx', type: docxType })
  assert.equal((await preview(actor, one.id)).body.data.text, 'the same')
  assert.equal((await keptOf(actor)).length, 1)
  await plant(actor, 'kept')
  assert.equal((await preview(actor, one.id)).body.data.text, 'kept')
  assert.equal((await preview(actor, two.id)).body.data.text, 'kept')
  assert.equal((await preview(other, theirs.id)).body.data.text, 'the same')

  // The same bytes with another type have another preview.
  const untyped = await upload(app, actor, bytes, { name: 'x.rtf', type: 'application/octet-stream' })
  assert.equal((await preview(actor, untyped.id)).status, 400)
  assert.equal((await preview(actor, one.id)).body.data.text, 'kept')
})

test('a stored preview of an older version is replaced', async () => {
  const actor = await app.createOrg()
  const file = await upload(app, actor, docx('new'), { type: docxType })
  await preview(actor, file.id)
  await plant(actor, 'old')
  await app.db.execute(sql`update previews set version = 0 where org_id = ${actor.orgId}`)
  assert.equal((await preview(actor, file.id)).body.data.text, 'new')
  assert.equal((await keptOf(actor)).length, 1)
})

test('a rejection is stored for an hour, then the file is read again', async () => {
  const actor = await app.createOrg()
  const file = await upload(app, actor, docx('').subarray(0, 500), { type: docxType })
  const first = await preview(actor, file.id)
  assert.equal(first.status, 400)
  assert.deepEqual(first.body.error, { code: 'BAD_REQUEST', message: 'This file cannot be previewed: it is damaged.' })
  await app.db.execute(sql`update previews set refusal = ${'stored rejection'} where org_id = ${actor.orgId}`)
  assert.equal((await preview(actor, file.id)).body.error.message, 'stored rejection')
  await app.db.execute(sql`
    update previews set created_at = now() - interval '61 minutes' where org_id = ${actor.orgId}`)
  assert.deepEqual((await preview(actor, file.id)).body, first.body)
})

test('previews of text are not stored', async () => {
  const actor = await app.createOrg()
  const file = await upload(app, actor, '# Title', { type: 'text/markdown' })
  assert.equal((await preview(actor, file.id)).body.data.text, '# Title')
  assert.deepEqual(await keptOf(actor), [])
})

test('a stored preview is deleted with the last file that has its bytes', async () => {
  const actor = await app.createOrg()
  const bytes = docx('secret')
  const one = await upload(app, actor, bytes, { type: docxType })
  const two = await upload(app, actor, bytes, { type: docxType })
  await preview(actor, one.id)
  assert.equal((await app.call('DELETE', `/api/v1/files/${one.id}?permanent=true`, { as: actor })).status, 200)
  assert.equal((await preview(actor, one.id)).status, 404)
  assert.equal((await preview(actor, two.id)).body.data.text, 'secret')
  assert.equal((await app.call('DELETE', `/api/v1/files/${two.id}?permanent=true`, { as: actor })).status, 200)
  assert.equal((await preview(actor, two.id)).status, 404)
  await until('the preview is deleted', async () => (await keptOf(actor)).length === 0)
})

test('an org stores at most 32 MB of previews, the newest, for at most 30 days', async () => {
  const actor = await app.createOrg()
  const ages = ['1 day', '2 days', '3 days', '31 days']
  for (const age of ages) {
    const file = await upload(app, actor, docx(age), { type: docxType })
    await preview(actor, file.id)
    await app.db.execute(sql`
      update previews p set created_at = now() - ${age}::interval, payload = convert_to(repeat('x', 14 * 1048576), 'UTF8')
      from blobs b
      where p.org_id = ${actor.orgId} and b.org_id = p.org_id and b.id = p.blob_id
        and b.sha256 = decode(${file.contentHash}, 'hex')`)
  }
  const newest = await upload(app, actor, docx('newest'), { type: docxType })
  assert.equal((await preview(actor, newest.id)).status, 200)
  const sizes = (await keptOf(actor)).map(({ payload }) => payload?.length)
  assert.deepEqual(sizes.slice(0, 2), [14 * 1_048_576, 14 * 1_048_576])
  assert.equal(sizes.length, 3)
})

test('requests for the same file at the same time read it once, also when the first one leaves', async () => {
  const actor = { ...(await app.createOrg()), visitor: undefined }
  const bytes = docx('popular')
  const { contentHash } = await upload(app, actor, bytes, { name: 'popular.docx', type: docxType })
  const previewer = createPreviewer({ concurrency: 2, timeoutMs: 120_000, niceness: 0 })
  const [first, leave] = [Promise.withResolvers<void>(), new AbortController()]
  let opened = 0
  const open = async (): Promise<Readable> => {
    opened += 1
    if (opened > 1) return Readable.from([bytes])
    first.resolve()
    return new Readable({ read: () => undefined })
  }
  const source = { contentHash, mimeType: docxType, name: 'popular.docx', sizeBytes: bytes.length, open }
  const ask = (signal?: AbortSignal) => cachedPreview({ db: app.db, previewer }, actor, source, signal)
  const leaving = assert.rejects(ask(leave.signal), /left/)
  await first.promise
  const others = Array.from({ length: 6 }, () => ask())
  leave.abort(new Error('left'))
  await leaving
  for (const { text } of await Promise.all(others)) assert.equal(text, 'popular')
  assert.equal(opened, 2)
  await previewer.close()
})

test('a client that disconnects ends the reading, and no rejection is stored', async () => {
  const actor = await app.createOrg()
  const slow = documents.pdf(Array.from({ length: 3_000 }, () => Array.from({ length: 20 }, () => '')))
  const file = await upload(app, actor, slow, { type: 'application/pdf' })
  const stop = new AbortController()
  const request = fetch(`${app.url}/api/v1/files/${file.id}/preview`, {
    headers: { authorization: `Bearer ${actor.key}` },
    signal: stop.signal,
  })
  await until('the file is being read', async () => (await reading()).length === 1)
  stop.abort()
  await assert.rejects(request, { name: 'AbortError' })
  await until('no file is being read', async () => (await reading()).length === 0)
  // If the first file had been read to its end, its preview would have been stored before this one.
  const other = await upload(app, actor, docx('other'), { type: docxType })
  assert.equal((await preview(actor, other.id)).status, 200)
  assert.equal((await keptOf(actor)).length, 1)
  assert.deepEqual(
    app.logLines.filter((line) => line.includes('request failed')),
    [],
  )
})

test('a visitor of a share who leaves ends the reading, and no failure is logged', async () => {
  const actor = await app.createOrg()
  const file = await upload(app, actor, 'a,b\n'.repeat(5_000_000), { name: 'long.csv', type: 'text/csv' })
  const shared = await app.call('POST', `/api/v1/files/${file.id}/shares`, { as: actor, json: {} })
  const stop = new AbortController()
  const request = fetch(app.url + pathOf(app, shared.body.data.url), { signal: stop.signal })
  await until('the file is being read', async () => (await reading()).length === 1)
  stop.abort()
  await assert.rejects(request, { name: 'AbortError' })
  await until('no file is being read', async () => (await reading()).length === 0)
  assert.equal((await preview(actor, (await upload(app, actor, docx('other'), { type: docxType })).id)).status, 200)
  assert.deepEqual(
    app.logLines.filter((line) => line.includes('request failed')),
    [],
  )
})
