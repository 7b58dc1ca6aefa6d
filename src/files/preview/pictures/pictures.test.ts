import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { childrenWith } from '../../../../test/support/child-processes.ts'
import { until } from '../../../../test/support/until.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { createPreviewer } from '../previewer.ts'
import type { PreviewInput } from '../previewer.ts'
import { limits } from './limits.ts'

const previewer = createPreviewer({ niceness: 0, timeoutMs: 30_000 })
after(() => previewer.close())

const input = (bytes: Buffer, orgId = 'org'): PreviewInput => ({
  mimeType: 'image/png',
  name: 'a.png',
  sizeBytes: bytes.length,
  orgId,
  open: async () => Readable.from([bytes]),
})

const paint = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } })

const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  })

const reasonOf = async (bytes: Buffer): Promise<string> => {
  try {
    await previewer.picture(input(bytes))
    return 'it was read'
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error))
    assert.equal(error.code, 'BAD_REQUEST')
    return error.message
  }
}

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** A PNG file that declares this size, with a compressed run of zeros as its content. */
const declaredPng = (width: number, height: number, bytes: number): Buffer => {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0])
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1A\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(bytes))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

describe('a picture for a model', () => {
  for (const format of ['png', 'jpeg', 'webp', 'gif'] as const) {
    test(`a large ${format} file becomes a picture of at most ${limits.edge} pixels and ${limits.outputBytes} bytes`, async () => {
      const { mimeType, width, height, bytes } = await previewer.picture(
        input(await paint(4_000, 1_000).toFormat(format).toBuffer()),
      )
      // The decoder of GIF always returns transparency.
      const type = format === 'gif' ? 'png' : 'jpeg'
      assert.deepEqual([mimeType, width, height], [`image/${type}`, 1_568, 392])
      const seen = await sharp(bytes).metadata()
      assert.deepEqual([seen.format, seen.width, seen.height], [type, 1_568, 392])
      assert.ok(bytes.length <= limits.outputBytes)
    })
  }

  test('a small picture keeps its size, and one with transparent parts becomes a PNG', async () => {
    const picture = await previewer.picture(input(await paint(30, 20, 4).png().toBuffer()))
    assert.deepEqual([picture.mimeType, picture.width, picture.height], ['image/png', 30, 20])
  })

  test('a picture that compresses badly is reduced until it has at most a megabyte', async () => {
    const { bytes } = await previewer.picture(input(await noise(2_400, 2_400).png().toBuffer()))
    assert.ok(bytes.length <= limits.outputBytes, String(bytes.length))
  })

  test('the place and camera that a photo names are removed, and it is turned upright', async () => {
    const photo = await paint(400, 200)
      .withExif({ IFD0: { Make: 'Camera of Ann' }, IFD3: { GPSLatitudeRef: 'N' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    assert.ok((await sharp(photo).metadata()).exif)
    const { bytes, width, height } = await previewer.picture(input(photo))
    assert.deepEqual([width, height], [200, 400])
    const seen = await sharp(bytes).metadata()
    assert.deepEqual([seen.exif, seen.orientation], [undefined, undefined])
  })

  test('an animation is shown as its first frame', async () => {
    const frames = await Promise.all([paint(64, 64).png().toBuffer(), noise(64, 64).png().toBuffer()])
    const gif = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer()
    assert.equal((await sharp(gif, { animated: true }).metadata()).pages, 2)
    const { width, height, bytes } = await previewer.picture(input(gif))
    assert.deepEqual([width, height], [64, 64])
    assert.equal((await sharp(bytes).stats()).isOpaque, true)
  })
})

describe('a hostile or broken file', () => {
  test('a file that declares more pixels than the limit is not decoded', async () => {
    const bomb = declaredPng(60_000, 60_000, 1_000_000)
    assert.match(await reasonOf(bomb), /^The picture could not be read: it has more than 60 million pixels\.$/)
  })

  test('a file whose content is cut off, random or of another format is called damaged', async () => {
    const png = await noise(300, 300).png().toBuffer()
    const flipped = Buffer.from(png)
    flipped.fill(0xaa, 5_000, 9_000)
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
    )
    const tiff = await paint(20, 20).tiff().toBuffer()
    for (const bytes of [png.subarray(0, png.length / 2), flipped, Buffer.alloc(0), svg, tiff, declaredPng(0, 5, 10)]) {
      assert.match(await reasonOf(bytes), /^The picture could not be read: it is damaged or not a PNG/)
    }
  })

  test('a file that needs too much memory or time ends its process and leaves no other process behind', async () => {
    const small = createPreviewer({ niceness: 0, maxRssBytes: 100 * 1_048_576, timeoutMs: 30_000 })
    const slow = createPreviewer({ niceness: 0, timeoutMs: 50 })
    const interlaced = await paint(6_000, 6_000, 4).png({ progressive: true }).toBuffer()
    await assert.rejects(small.picture(input(interlaced)), /needs too much memory/)
    // Its bytes fit into the pipe, so that reading it is not what takes long.
    await assert.rejects(slow.picture(input(await paint(100, 100).png().toBuffer())), /takes too long/)
    await Promise.all([small.close(), slow.close()])
    await until(
      async () => childrenWith('pictures/child.ts'),
      (children) => children.length === 0,
    )
  })

  test('the picture of another org does not wait for all pictures of an org that sent many', async () => {
    const png = await noise(1_000, 1_000).png().toBuffer()
    const order: string[] = []
    const read = async (orgId: string) => {
      await previewer.picture(input(png, orgId))
      order.push(orgId)
    }
    const many = Array.from({ length: 6 }, () => read('busy'))
    await Promise.all([...many, read('other')])
    assert.ok(order.indexOf('other') <= 2, order.join())
  })

  test('the images of a person do not wait for all images of another person of the org', async () => {
    const png = await noise(1_000, 1_000).png().toBuffer()
    const order: string[] = []
    const read = async (userId: string) => {
      await previewer.image({ ...input(png), userId }, { width: 64, fit: 'inside', format: 'webp' })
      order.push(userId)
    }
    const many = Array.from({ length: 8 }, () => read('busy'))
    await Promise.all([...many, read('other'), read('third')])
    assert.deepEqual(order.slice(1, 4).toSorted(), ['busy', 'other', 'third'], order.join())
  })

  test('a person who asks for too many images does not exceed the queue for others of the org', async () => {
    const leave = new AbortController()
    const png = await noise(1_000, 1_000).png().toBuffer()
    const ask = (userId: string) =>
      previewer.image({ ...input(png), userId }, { width: 64, fit: 'inside', format: 'webp' }, leave.signal)
    const many = Array.from({ length: 101 }, () => ask('busy'))
    const settled = Promise.allSettled(many)
    await assert.rejects(ask('busy'), /Too many images are being made/)
    await ask('other')
    leave.abort(new Error('left'))
    await settled
  })
})
