import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { cephInstallHint, isCephInstalled, startCeph } from '../../../test/fakes/ceph.ts'
import { create, leavesNothing, pathOf, sendForm, traces, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { available } from '../../../test/support/require.ts'

if (await available('s3', isCephInstalled, cephInstallHint)) {
  const ceph = await startCeph()
  after(() => ceph.stop())
  process.env['AWS_ACCESS_KEY_ID'] = ceph.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = ceph.secretAccessKey
  const bucket = `files-${randomBytes(6).toString('hex')}`
  const client = new S3Client({ endpoint: ceph.endpoint, forcePathStyle: true, region: 'us-east-1' })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  client.destroy()
  const app = await startTestApp({ S3_BUCKET: bucket, S3_ENDPOINT: ceph.endpoint, S3_FORCE_PATH_STYLE: '1' })
  const owner = await app.createOrg()
  const bytes = randomBytes(6_000_000)

  const download = async (id: string, headers: Record<string, string> = {}, method = 'GET') => {
    const redirect = await app.call('GET', `/api/v1/files/${id}?download=true`, { as: owner })
    assert.equal(redirect.status, 302)
    const url = redirect.headers.get('location') ?? ''
    return { url, response: await fetch(url, { method, headers }) }
  }

  test('with S3, a download redirects to the store, which responds with the type and name of the file', async () => {
    const file = await upload(app, owner, bytes, { name: 'Ärger.bin', type: 'application/octet-stream' })
    const { url, response } = await download(file.id, { range: 'bytes=5999990-' })
    assert.ok(url.startsWith(`${ceph.endpoint}/${bucket}/${file.storageKey}?`), url)
    assert.equal(response.status, 206)
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(-10)))
    assert.equal(response.headers.get('content-type'), 'application/octet-stream')
    assert.equal(
      response.headers.get('content-disposition'),
      `attachment; filename="_rger.bin"; filename*=UTF-8''%C3%84rger.bin`,
    )
    assert.match(url, /X-Amz-Expires=300/)
    const head = await fetch(url, { method: 'PUT', body: 'overwritten' })
    assert.equal(head.status, 403, 'a download URL never writes')
    assert.equal((await download(file.id)).response.headers.get('content-length'), '6000000')
  })

  test('with S3, an uploaded script or style sheet is downloaded as text/plain', async () => {
    for (const type of ['text/javascript', 'text/css']) {
      const file = await upload(app, owner, 'alert(1)', { name: 'code', type })
      const { response } = await download(file.id)
      assert.equal(await response.text(), 'alert(1)')
      assert.equal(response.headers.get('content-type'), 'text/plain')
      assert.match(response.headers.get('content-disposition') ?? '', /^attachment;/)
    }
  })

  test('with S3, inline content comes through the API, also by range', async () => {
    const file = await upload(app, owner, bytes, { type: 'application/octet-stream' })
    const response = await fetch(`${app.url}/api/v1/files/${file.id}?download=true&inline=true`, {
      headers: { authorization: `Bearer ${owner.key}`, range: 'bytes=100-1000099' },
    })
    assert.equal(response.status, 206)
    assert.match(response.headers.get('content-security-policy') ?? '', /sandbox/)
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(100, 1_000_100)))
  })

  test('with S3, a signed PUT passes through the API, and a rejected one leaves nothing in the bucket', async () => {
    const { file, uploadUrl } = await create(app, owner, {
      name: 'a',
      mimeType: 'application/octet-stream',
      size: bytes.length,
    })
    const path = pathOf(app, uploadUrl)
    await leavesNothing(app, 'BAD_REQUEST', () => app.call('PUT', path, { body: bytes.subarray(1) }))
    await leavesNothing(app, 'BAD_REQUEST', () =>
      app.call('PUT', path, { body: new Blob([bytes, Buffer.from('x')]).stream() }),
    )
    assert.equal((await app.call('PUT', path, { body: bytes })).status, 200)
    const { response } = await download(file.id)
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes))
  })

  test('with S3, rejected forms leave nothing in the bucket, and deleting a file deletes its object', async () => {
    await leavesNothing(app, 'BAD_REQUEST', () =>
      sendForm(app, owner, [
        { name: 'file', filename: 'f', type: 'application/octet-stream', value: randomBytes(6_000_000) },
        { name: 'parentId', value: 'nonsense' },
      ]),
    )
    const file = await upload(app, owner, 'short lived')
    const { url } = await download(file.id)
    await app.call('DELETE', `/api/v1/files/${file.id}?permanent=true`, { as: owner })
    await until('the object is deleted', async () => !(await traces(app)).objects.includes(file.storageKey))
    assert.equal((await fetch(url)).status, 404)
  })
}
