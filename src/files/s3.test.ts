import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { cephInstallHint, isCephInstalled, startCeph } from '../../test/ceph.ts'
import * as documents from '../../test/documents.ts'
import { create, eventually, pathOf, traces, upload } from '../../test/files.ts'
import { startTestApp } from '../../test/harness.ts'
import { available } from '../../test/require.ts'

const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

if (await available('s3', isCephInstalled, cephInstallHint)) {
  const ceph = await startCeph()
  after(() => ceph.stop())
  process.env['AWS_ACCESS_KEY_ID'] = ceph.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = ceph.secretAccessKey
  const bucket = `files-${randomBytes(6).toString('hex')}`
  const client = new S3Client({ endpoint: ceph.endpoint, region: 'us-east-1', forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  const app = await startTestApp({ S3_BUCKET: bucket, S3_ENDPOINT: ceph.endpoint, S3_FORCE_PATH_STYLE: '1' })

  test('S3: files pass through the server on their way in, and come straight from the store', async () => {
    const actor = await app.createOrg()
    const bytes = randomBytes(12_345_678)
    const { file, uploadUrl } = await create(app, actor, {
      name: 'Größe "x".bin',
      mimeType: 'application/octet-stream',
      size: bytes.length,
    })
    assert.equal((await app.call('PUT', pathOf(app, uploadUrl), { body: bytes })).status, 200)
    const redirect = await app.call('GET', `/api/v1/files/${file.id}?download=true`, { as: actor })
    assert.equal(redirect.status, 302)
    const location = redirect.headers.get('location') ?? ''
    assert.ok(location.startsWith(`${ceph.endpoint}/${bucket}/${actor.orgId}/`), location)
    const answer = await fetch(location)
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; .*filename\*=UTF-8''Gr%C3%B6%C3%9Fe/)
    const hash = createHash('sha256')
      .update(new Uint8Array(await answer.arrayBuffer()))
      .digest('hex')
    assert.equal(hash, createHash('sha256').update(bytes).digest('hex'))

    const part = await app.call('GET', `/api/v1/files/${file.id}?download=true&inline=true`, {
      as: actor,
      headers: { range: 'bytes=0-3' },
    })
    assert.equal(part.status, 206)
    assert.equal(part.headers.get('content-length'), '4')
  })

  test('S3: previews are read from the store; the object goes with its last file', async () => {
    const actor = await app.createOrg()
    const file = await upload(app, actor, documents.docx({ body: documents.paragraph('from a bucket') }), {
      type: docxType,
    })
    const text = await upload(app, actor, 'plain', { type: 'text/plain' })
    const preview = (id: string) => app.call('GET', `/api/v1/files/${id}/preview`, { as: actor })
    assert.equal((await preview(file.id)).body.data.text, 'from a bucket')
    assert.equal((await preview(text.id)).body.data.text, 'plain')
    for (const { id } of [file, text]) {
      assert.equal((await app.call('DELETE', `/api/v1/files/${id}`, { as: actor })).status, 200)
    }
    const ownObjects = async () => (await traces(app)).objects.filter((key) => key.startsWith(actor.orgId))
    await eventually(async () => (await ownObjects()).length === 0, 'the objects are gone')
  })

  test('S3: an upload that is refused leaves nothing in the bucket', async () => {
    const actor = await app.createOrg()
    const before = await traces(app)
    const { uploadUrl } = await create(app, actor, { name: 'x', mimeType: 'text/plain', size: 7_000_000 })
    const refused = await app.call('PUT', pathOf(app, uploadUrl), { body: Buffer.alloc(6_999_999, 'a') })
    assert.equal(refused.body.error.code, 'BAD_REQUEST')
    const { objects, unfinished } = await traces(app)
    assert.deepEqual([objects, unfinished], [before.objects, 0])
  })
}
