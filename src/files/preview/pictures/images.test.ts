import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { pdf } from '../../../../test/support/documents.ts'
import { create, createFolder, upload } from '../../../../test/support/files.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { sql } from '../../../platform/database/database.ts'

const app = await startTestApp()
const { db } = app

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } })

const storePicture = async (as: TestActor, bytes: Buffer, name = 'a.jpg', type = 'image/jpeg'): Promise<string> =>
  (await upload(app, as, bytes, { name, type })).id

const image = async (as: TestActor, id: string, query = '', headers: Record<string, string> = {}) => {
  const response = await fetch(`${app.url}/api/v1/files/${id}/image${query}`, {
    headers: { authorization: `Bearer ${as.key}`, ...headers },
  })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}
const countStored = async (orgId: string): Promise<number> =>
  (await db.rows(sql`select 1 from previews where org_id = ${orgId} and payload is not null`)).length

describe('GET /files/:id/image', () => {
  test('returns the picture upright in the size that was asked for, without its metadata', async () => {
    const owner = await app.createOrg()
    const jpeg = await picture(3_000, 1_500)
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const id = await storePicture(owner, jpeg)
    const sizes: [query: string, width: number, height: number][] = [
      ['', 512, 1_024],
      ['?width=64', 64, 128],
      ['?height=128', 64, 128],
      ['?width=256&height=256', 128, 256],
      ['?width=256&height=256&fit=cover', 256, 256],
    ]
    for (const [query, width, height] of sizes) {
      const { response, bytes } = await image(owner, id, query)
      assert.equal(response.status, 200, bytes.toString())
      const found = await sharp(bytes).metadata()
      assert.deepEqual([found.width, found.height, found.format], [width, height, 'jpeg'], query)
      assert.equal(found.exif, undefined)
    }
    const small = await storePicture(owner, await picture(20, 10).png().toBuffer(), 'a.png', 'image/png')
    const { bytes } = await image(owner, small, '?width=2048')
    assert.equal((await sharp(bytes).metadata()).width, 20, 'never enlarged')
    const avif = await picture(200, 100).avif({ effort: 0 }).toBuffer()
    const photo = await storePicture(owner, avif, 'a.avif', 'image/avif')
    assert.equal((await sharp((await image(owner, photo, '?width=64')).bytes).metadata()).height, 32)
    const torn = await storePicture(owner, avif.subarray(0, avif.length / 2), 'b.avif', 'image/avif')
    assert.equal((await image(owner, torn)).response.status, 400)
    const { file: link } = await create(app, owner, { source: 'link', targetFileId: small, name: 'link' })
    assert.equal((await image(owner, link.id)).response.status, 200)
  })

  test('shows the primary image of a HEIC photo, turned once, with its transparent parts', async () => {
    const owner = await app.createOrg()
    const fixture = (name: string) => readFile(new URL(`../../../../test/fixtures/pictures/${name}`, import.meta.url))
    const pixels = async (bytes: Buffer, points: [number, number][]) => {
      const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
      const colors = points.map(([x, y]) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)])
      return {
        size: [info.width, info.height],
        colors: colors.map((color) => color.map((value) => Math.round(value / 51) * 51)),
      }
    }
    const [red, green, blue, white] = [
      [255, 0, 0, 255],
      [0, 255, 0, 255],
      [0, 0, 255, 255],
      [255, 255, 255, 255],
    ]
    // The file has 64 x 48 pixels, is turned by its own properties, and its EXIF data say the same.
    const turned = await fixture('turned.heic')
    const photo = await storePicture(owner, turned, 'a.heic', 'image/heic')
    const upright = await image(owner, photo, '?format=png')
    assert.equal(upright.response.status, 200, upright.bytes.toString())
    const found = await pixels(upright.bytes, [
      [12, 16],
      [36, 16],
      [12, 48],
      [36, 48],
    ])
    assert.deepEqual(found, { size: [48, 64], colors: [blue, red, white, green] })
    const clear = await storePicture(owner, await fixture('transparent.heic'), 'b.heic', 'image/heic')
    const { response, bytes } = await image(owner, clear)
    assert.equal(response.headers.get('content-type'), 'image/png')
    const { size, colors } = await pixels(bytes, [
      [16, 12],
      [48, 12],
      [16, 36],
      [48, 36],
    ])
    assert.deepEqual([size, colors.slice(0, 3), colors[3]?.[3]], [[64, 48], [red, green, blue], 0])
    // The size that the container declares.
    const huge = Buffer.from(turned)
    const sizeOf64x48 = Buffer.from('0000004000000030', 'hex')
    for (let at = huge.indexOf(sizeOf64x48); at >= 0; at = huge.indexOf(sizeOf64x48)) {
      huge.writeUInt32BE(60_000, at)
      huge.writeUInt32BE(20_000, at + 4)
    }
    for (const [bad, reason] of [
      [huge, /it has more than 60 million pixels/],
      [turned.subarray(0, -300), /it is damaged or not a PNG, JPEG, WebP, GIF, AVIF or HEIC file/],
      [turned.subarray(0, 40), /it is damaged/],
    ] as const) {
      const rejected = await image(owner, await storePicture(owner, bad, 'c.heic', 'image/heic'))
      assert.equal(rejected.response.status, 400)
      assert.match(rejected.bytes.toString(), reason)
    }
  })

  test('is in the format that Accept or the query names, and is made once for each', async () => {
    const owner = await app.createOrg()
    const id = await storePicture(owner, await picture(600, 400).jpeg().toBuffer())
    const formats: [accept: string, type: string][] = [
      ['image/avif,image/webp,*/*;q=0.8', 'image/avif'],
      ['image/webp,*/*', 'image/webp'],
      ['image/avif;q=0, image/webp', 'image/webp'],
      ['*/*', 'image/jpeg'],
    ]
    for (const [accept, type] of formats) {
      const { response, bytes } = await image(owner, id, '', { accept })
      assert.deepEqual([response.headers.get('content-type'), response.headers.get('vary')], [type, 'accept'])
      assert.match((await sharp(bytes).metadata()).format ?? '', /^(?:heif|webp|jpeg)$/)
    }
    const named = await image(owner, id, '?format=png', { accept: 'image/avif' })
    assert.deepEqual(
      [named.response.headers.get('content-type'), named.response.headers.get('vary')],
      ['image/png', null],
    )
    assert.equal(await countStored(owner.orgId), 4)
    await image(owner, id, '', { accept: 'image/webp' })
    assert.equal(await countStored(owner.orgId), 4)
    const transparent = await sharp({ create: { width: 9, height: 9, channels: 4, background: '#ff000080' } })
      .png()
      .toBuffer()
    const other = await storePicture(owner, transparent, 'b.png', 'image/png')
    assert.equal((await image(owner, other)).response.headers.get('content-type'), 'image/png')
  })

  test('shows the first page of a PDF, rendered once, and rejects a damaged one with the reason', async () => {
    const owner = await app.createOrg()
    const id = await storePicture(owner, pdf([['First page'], ['Second']]), 'a.pdf', 'application/pdf')
    const { response, bytes } = await image(owner, id, '?width=128', { accept: 'image/webp' })
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'image/webp'])
    assert.equal((await sharp(bytes).metadata()).width, 128)
    assert.equal(await countStored(owner.orgId), 1)
    const etag = response.headers.get('etag') ?? ''
    const again = await image(owner, id, '?width=128', { accept: 'image/webp', 'if-none-match': etag })
    assert.equal(again.response.status, 304)
    const damaged = await storePicture(owner, Buffer.from('%PDF-1.7 and nothing'), 'b.pdf', 'application/pdf')
    for (let round = 1; round <= 2; round += 1) {
      const rejected = await image(owner, damaged)
      assert.equal(rejected.response.status, 400)
      assert.match(rejected.bytes.toString(), /This file cannot be previewed: it is damaged\./)
    }
  })

  test('has an ETag of the bytes, size and format, with which it is not read again', async () => {
    const owner = await app.createOrg()
    const id = await storePicture(owner, await picture(300, 300).jpeg().toBuffer())
    const first = await image(owner, id, '?width=64')
    const etag = first.response.headers.get('etag') ?? ''
    assert.match(first.response.headers.get('cache-control') ?? '', /private/)
    assert.match(first.response.headers.get('content-security-policy') ?? '', /sandbox/)
    const again = await image(owner, id, '?width=64', { 'if-none-match': etag })
    assert.deepEqual([again.response.status, again.bytes.length], [304, 0])
    assert.equal((await image(owner, id, '?width=128', { 'if-none-match': etag })).response.status, 200)
    await app.call('PUT', `/api/v1/files/${id}/content`, {
      as: owner,
      body: new Uint8Array(await picture(301, 301).jpeg().toBuffer()),
      headers: { 'content-type': 'image/jpeg' },
    })
    assert.equal((await image(owner, id, '?width=64', { 'if-none-match': etag })).response.status, 200)
  })

  test('rejects other sizes, files that are no pictures, damaged ones, folders, and callers of other orgs', async () => {
    const owner = await app.createOrg()
    const id = await storePicture(owner, await picture(30, 30).jpeg().toBuffer())
    for (const query of ['?width=65', '?width=0', '?height=4096', '?fit=fill', '?format=gif']) {
      assert.equal((await image(owner, id, query)).response.status, 400, query)
    }
    const text = (await upload(app, owner, 'text')).id
    const jpeg = await picture(300, 300).jpeg().toBuffer()
    const damaged = await storePicture(owner, jpeg.subarray(0, 200), 'b.jpg')
    const folder = (await createFolder(app, owner, 'f')).id
    for (const bad of [text, damaged, folder]) {
      const { response, bytes } = await image(owner, bad)
      assert.equal(response.status, 400, bytes.toString())
    }
    assert.equal((await image(await app.createOrg(), id)).response.status, 404)
  })

  test('keeps the newest images of an org within their space, and leaves its previews and other orgs alone', async () => {
    const owner = await app.createOrg()
    const other = await app.createOrg()
    const id = await storePicture(owner, await picture(300, 300).jpeg().toBuffer())
    await image(other, await storePicture(other, await picture(31, 30).jpeg().toBuffer()))
    await image(owner, id)
    // As many as fill the space, and a preview that is older than they are.
    await db.execute(sql`
      insert into previews (org_id, blob_id, format, version, payload, created_at)
      select org_id, blob_id, 'image old ' || n, 1, decode(repeat('00', 1048576), 'hex'), now() - interval '1 hour' - n * interval '1 s'
      from previews, generate_series(1, 70) n where org_id = ${owner.orgId}
      union all
      select org_id, blob_id, 'pdf', 1, 'x', now() - interval '1 day' from previews where org_id = ${owner.orgId}`)
    await image(owner, id, '?width=64')
    const kept = await db.rows<{ format: string }>(sql`
      select format from previews where org_id = ${owner.orgId} order by created_at desc`)
    const formats = kept.map(({ format }) => format)
    assert.deepEqual(formats.slice(0, 3), ['image 64x-inside-plain', 'image 512x-inside-plain', 'image old 1'])
    assert.ok(formats.includes('pdf') && !formats.includes('image old 70'), formats.join(', '))
    assert.ok(formats.length < 70)
    assert.equal(await countStored(other.orgId), 1)
  })
})
