import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { childrenWith } from '../../../../test/support/child-processes.ts'
import * as documents from '../../../../test/support/documents.ts'
import { until } from '../../../../test/support/until.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { createPreviewer } from '../previewer.ts'
import type { ImageSpec } from './image-spec.ts'
import { scaleOf } from './pdf-page.ts'

const previewer = createPreviewer({ niceness: 0, timeoutMs: 60_000 })
after(() => previewer.close())

const render = (bytes: Buffer, spec: Partial<ImageSpec> = {}, by = previewer) =>
  by.image(
    { mimeType: 'application/pdf', name: 'a.pdf', sizeBytes: bytes.length, open: async () => Readable.from([bytes]) },
    { width: 64, fit: 'inside', format: 'png', ...spec },
  )

const reasonOf = async (bytes: Buffer, by = previewer): Promise<string> => {
  try {
    await render(bytes, {}, by)
    return 'it was rendered'
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error))
    assert.equal(error.code, 'BAD_REQUEST')
    return error.message
  }
}

const streamOf = (content: Buffer | string, entries = ''): string => {
  const packed = deflateSync(content).toString('latin1')
  return `<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n${packed}\nendstream`
}

/** A PDF of one page with this content. Objects of `more` are numbered from 5. */
const page = (content: Buffer | string, { box = '0 0 200 100', resources = '', more = [] as string[] } = {}): Buffer =>
  documents.pdfObjects(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [${box}] /Contents 4 0 R /Resources << ${resources} >> >>`,
      streamOf(content),
      ...more,
    ],
    '',
  )

/** The left half of a page of 200 x 100 points is red. */
const redHalf = '1 0 0 rg 0 0 100 100 re f'

const pixel = async (bytes: Buffer, left: number, top: number): Promise<number[]> => [
  ...(await sharp(bytes).extract({ left, top, width: 1, height: 1 }).removeAlpha().raw().toBuffer()),
]
const isRedOnWhite = async (bytes: Buffer): Promise<void> => {
  assert.deepEqual(await pixel(bytes, 5, 30), [255, 0, 0])
  assert.deepEqual(await pixel(bytes, 60, 2), [255, 255, 255])
}

describe('the image of a PDF', () => {
  test('is its first page on white, in the size that is asked for', async () => {
    const image = await render(page(redHalf))
    assert.deepEqual([image.mimeType, image.width, image.height], ['image/png', 64, 32])
    await isRedOnWhite(image.bytes)
    assert.equal((await sharp(image.bytes).metadata()).hasAlpha, false)
    const square = await render(page(redHalf), { width: 256, height: 256, fit: 'cover', format: 'webp' })
    assert.deepEqual([square.mimeType, square.width, square.height], ['image/webp', 256, 256])
  })

  test('shows letters of fonts that the document does not contain', async () => {
    const { bytes } = await render(documents.pdf([['MMMMMMMMMMMMMMMMMMMM']]), { width: 512 })
    const { channels } = await sharp(bytes).stats()
    assert.ok((channels[0]?.min ?? 255) < 100, 'there are dark pixels')
  })

  test('has at most 4,096 pixels along its longer edge, and the size that is asked for otherwise', () => {
    const size = { width: 200, height: 100 }
    assert.equal(scaleOf(size, { width: 512, fit: 'inside' }), 2.56)
    assert.equal(scaleOf(size, { width: 512, height: 64, fit: 'inside' }), 0.64)
    assert.equal(scaleOf(size, { width: 512, height: 512, fit: 'cover' }), 5.12)
    assert.equal(scaleOf({ width: 1, height: 1e7 }, { width: 512, fit: 'inside' }), 4_096 / 1e7)
  })
})

describe('a picture on a page', () => {
  const oneBit = '/ColorSpace /DeviceGray /BitsPerComponent 1'
  const kinds = [
    ['JPEG 2000', 'square.jp2', '/Filter /JPXDecode'],
    ['JBIG2', 'square.jbig2', `/Filter /JBIG2Decode ${oneBit}`],
    ['CCITT fax', 'square.g4', `/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 64 /Rows 64 >> ${oneBit}`],
  ] as const
  const fixture = (file: string): Promise<Buffer> =>
    readFile(new URL(`../../../../test/fixtures/pictures/${file}`, import.meta.url))
  /** A page of 64 x 64 points, or another box, with the picture on it. */
  const withPicture = (
    bytes: Buffer,
    entries: string,
    { side = 64, content = 'q 64 0 0 64 0 0 cm /I Do Q', box = '0 0 64 64' } = {},
  ) => {
    const dictionary = `/Type /XObject /Subtype /Image /Width ${side} /Height ${side} ${entries} /Length ${bytes.length}`
    const picture = `<< ${dictionary} >>\nstream\n${bytes.toString('latin1')}\nendstream`
    return page(content, { box, resources: '/XObject << /I 5 0 R >>', more: [picture] })
  }

  for (const [name, file, entries] of kinds) {
    test(`in ${name} is shown with its pixels`, async () => {
      const { bytes } = await render(withPicture(await fixture(file), entries))
      const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
      assert.deepEqual([info.width, info.height], [64, 64])
      // A black square in the middle of a white one. JPEG 2000 blurs its edges.
      const isBlack = (index: number): boolean =>
        [index % 64, Math.floor(index / 64)].every((at) => at >= 16 && at < 48)
      const wrong = [...data].filter(
        (value, index) => Math.abs(value - (isBlack(index) ? 0 : 255)) > (name === 'JPEG 2000' ? 60 : 0),
      )
      assert.equal(wrong.length, 0, wrong.join())
    })

    test(`in ${name} is left out if it is damaged, and rejected with the reason if nothing else is on the page`, async () => {
      const nothing = Buffer.alloc(500, 'x')
      const large = { side: 8_000 }
      const shows =
        'This file cannot be previewed: its first page shows nothing, because its content is damaged or exceeds the limits.'
      assert.equal(await reasonOf(withPicture(await fixture(file), entries, large)), shows)
      // Every sequence of bits is a fax.
      if (name !== 'CCITT fax') assert.equal(await reasonOf(withPicture(nothing, entries)), shows)
      const content = `q 80 0 0 80 110 10 cm /I Do Q ${redHalf}`
      await isRedOnWhite((await render(withPicture(nothing, entries, { content, box: '0 0 200 100' }))).bytes)
    })
  }

  test('that is a mask is shown, and its damage is reported', async () => {
    const entries = '/ImageMask true /BitsPerComponent 1 /Filter /JBIG2Decode'
    const content = '1 0 0 rg q 64 0 0 64 0 0 cm /I Do Q'
    const { bytes } = await render(withPicture(await fixture('square.jbig2'), entries, { content }))
    const [inside, outside] = [await pixel(bytes, 32, 32), await pixel(bytes, 4, 4)]
    assert.deepEqual(
      [inside, outside],
      [
        [255, 0, 0],
        [255, 255, 255],
      ],
    )
    assert.match(
      await reasonOf(withPicture(Buffer.alloc(500, 'x'), entries, { content })),
      /its first page shows nothing/,
    )
  })

  test('that declares another size than its dictionary does not exceed the limits of the process', async () => {
    const limited = createPreviewer({ niceness: 0, timeoutMs: 10_000 })
    after(() => limited.close())
    const jpx = await fixture('square.jp2')
    const jbig2 = await fixture('square.jbig2')
    const sizeOf64 = Buffer.from('0000004000000040', 'hex')
    const resized = (bytes: Buffer, side: number): Buffer => {
      const copy = Buffer.from(bytes)
      for (let at = copy.indexOf(sizeOf64); at >= 0; at = copy.indexOf(sizeOf64)) {
        copy.writeUInt32BE(side, at)
        copy.writeUInt32BE(side, at + 4)
      }
      return copy
    }
    for (const side of [8_000, 60_000, 2_147_483_647]) {
      const fax = `/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns ${side} /Rows ${side} >> ${oneBit}`
      for (const bytes of [
        withPicture(resized(jpx, side), kinds[0][2]),
        withPicture(resized(jbig2, side), kinds[1][2]),
        withPicture(await fixture('square.g4'), fax),
      ]) {
        const reason = await reasonOf(bytes, limited)
        assert.match(
          reason,
          /: its first page shows nothing|: reading it needs too much memory|: it is damaged|^it was/,
        )
      }
    }
  })

  test('does not make an empty page of another document an error', async () => {
    const { width } = await render(page('1 1 1 rg 0 0 100 100 re f'))
    assert.equal(width, 64)
  })
})

describe('a hostile or broken PDF', () => {
  test('is rendered without what cannot be read', async () => {
    const font =
      '<< /Type /Font /Subtype /TrueType /BaseFont /A+X /FirstChar 32 /LastChar 32 /Widths [500] /FontDescriptor 6 0 R >>'
    const descriptor = '<< /Type /FontDescriptor /FontName /A+X /Flags 4 /FontFile2 7 0 R >>'
    const large = '/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceRGB /BitsPerComponent 8'
    const readable = [
      page(`BT /F 20 Tf 110 10 Td (Broken) Tj ET ${redHalf}`, {
        resources: '/Font << /F 5 0 R >>',
        more: [font, descriptor, streamOf(Buffer.alloc(9_000, 'not a font'), '/Length1 9000')],
      }),
      page(`q 1 0 0 1 110 0 cm /I Do Q ${redHalf}`, {
        resources: '/XObject << /I 5 0 R >>',
        more: [streamOf(Buffer.alloc(100_000), large)],
      }),
      page(`${redHalf} /Unknown Do (unfinished`),
    ]
    for (const bytes of readable) await isRedOnWhite((await render(bytes)).bytes)
  })

  test('may have a page of any size', async () => {
    const huge = await render(page('1 0 0 rg 0 0 500000000 1000000000 re f', { box: '0 0 1000000000 1000000000' }))
    assert.deepEqual([huge.width, huge.height], [64, 64])
    await isRedOnWhite(huge.bytes)
    const strip = await render(page(redHalf, { box: '0 0 1 10000000' }), { width: 2_048 })
    assert.deepEqual([strip.width, strip.height], [1, 4_096])
    for (const box of ['0 0 0 0', '/A null (x) -5']) assert.ok((await render(page(redHalf, { box }))).width > 0, box)
  })

  test('loads nothing from the network', async () => {
    let requests = 0
    const server = createServer((_request, response) => {
      requests += 1
      response.end()
    }).listen(0, '127.0.0.1')
    after(() => server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
    const image = `<< /Type /XObject /Subtype /Image /Width 9 /Height 9 /ColorSpace /DeviceRGB /BitsPerComponent 8 /F << /FS /URL /F (${url}) >> /Length 0 >>\nstream\n\nendstream`
    const bytes = page(`q 1 0 0 1 110 0 cm /I Do Q ${redHalf}`, { resources: '/XObject << /I 5 0 R >>', more: [image] })
    // Its stream in the file is too short for the picture, which is left out.
    await isRedOnWhite((await render(bytes)).bytes)
    assert.equal(requests, 0)
  })

  test('is called damaged, without pages or protected', async () => {
    const catalog = '<< /Type /Catalog /Pages 2 0 R >>'
    const pagesOf = (kids: string, count: number) =>
      documents.pdfObjects([catalog, `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`], '')
    const encrypted = documents.pdf(
      [['x']],
      `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'00'.repeat(32)}> /U <${'00'.repeat(32)}> >>`,
    )
    for (const [bytes, reason] of [
      [pagesOf('', 0), 'it has no pages'],
      [pagesOf('2 0 R', 1), 'it is damaged'],
      [Buffer.from('%PDF-1.7\nnothing'), 'it is damaged'],
      [encrypted, 'it is protected by a password'],
    ] as const) {
      assert.equal(await reasonOf(bytes), `This file cannot be previewed: ${reason}.`)
    }
  })

  test('ends its process when it needs too much time or memory, and leaves no process behind', async () => {
    const limited = createPreviewer({ niceness: 0, timeoutMs: 4_000 })
    const form = (content: string, resources: string, entries = ''): string =>
      streamOf(
        content,
        `/Type /XObject /Subtype /Form /BBox [0 0 200 100] ${entries} /Resources << /XObject << ${resources} >> >>`,
      )
    const group = '/Group << /S /Transparency /I true >>'
    const doubling = Array.from({ length: 40 }, (_, index) => form('/F Do /F Do', `/F ${6 + index} 0 R`))
    const nested = Array.from({ length: 200 }, (_, index) => form('/F Do', `/F ${6 + index} 0 R`, group))
    const first = '/XObject << /F 5 0 R >>'
    const hostile = {
      'a form that contains itself': page('/F Do', { resources: first, more: [form('/F Do /F Do', '/F 5 0 R')] }),
      'forms that double 40 times': page('/F Do', { resources: first, more: [...doubling, form('0 0 1 1 re f', '')] }),
      '200 transparent groups in each other': page('/F Do', {
        resources: first,
        more: [...nested, form('0 0 1 1 re f', '', group)],
      }),
      'half a million curves': page('0 0 m 200 100 l 10 50 30 20 5 6 c S\n'.repeat(500_000)),
      'a million arrays in each other': page('['.repeat(1_000_000)),
      'content of 300 MB': page(Buffer.alloc(300_000_000, ' ')),
    }
    for (const [name, bytes] of Object.entries(hostile)) {
      const reason = await reasonOf(bytes, limited)
      assert.match(
        reason,
        /: reading it (?:takes too long|needs too much memory)\.$|: it is damaged\.$|: its first page shows nothing|^it was/,
        name,
      )
    }
    await limited.close()
    await until(
      async () => childrenWith('pictures/child.ts'),
      (children) => children.length === 0,
    )
  })
})
