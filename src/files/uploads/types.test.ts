import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { leavesNothing, sendForm } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { checkHead } from './magic-bytes.ts'
import { storedTypes } from './mime-types.ts'

const app = await startTestApp()
const owner = await app.createOrg()

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const brand = (...brands: string[]): Buffer => {
  const size = 8 + 4 * brands.length
  return Buffer.concat([Buffer.from([0, 0, 0, size]), latin1(`ftyp${brands.join('')}`), Buffer.alloc(64)])
}
/** One header of a TAR archive, with or without the word by which newer ones are known. */
const tar = (magic: string): Buffer => {
  const block = Buffer.alloc(1_024)
  block.write('hello.txt', 0)
  block.write('0000644\0', 100)
  block.write('00000000005\0', 124)
  block.write('        ', 148)
  block.write(magic, 257)
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le')

const zip = latin1('PK\x03\x04\x14\0rest')
const ole = latin1('\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1rest')
const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const odt = 'application/vnd.oasis.opendocument.text'

const right: [string, Buffer][] = [
  ['image/png', latin1('\x89PNG\r\n\x1A\nrest')],
  ['image/jpeg', latin1('\xFF\xD8\xFF\xE0rest')],
  ['image/gif', latin1('GIF87a')],
  ['image/gif', latin1('GIF89a')],
  ['image/webp', latin1('RIFF\x10\0\0\0WEBPVP8 ')],
  ['image/avif', brand('avif', '\0\0\0\0', 'mif1')],
  ['image/avif', brand('mif1', '\0\0\0\0', 'avif')],
  ['image/heic', brand('heic', '\0\0\0\0', 'mif1')],
  ['image/heic', brand('mif1', '\0\0\0\0', 'heic')],
  ['image/tiff', latin1('II*\0')],
  ['image/tiff', latin1('MM\0*')],
  ['image/bmp', latin1('BM')],
  ['image/svg+xml', latin1('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['image/svg+xml', latin1('\xEF\xBB\xBF <?xml version="1.0"?>\n<!-- a comment --><svg:svg>')],
  ['image/svg+xml', utf16('<svg width="1">')],
  ['image/svg+xml', latin1(`<!-- ${'x'.repeat(5_000)} --><svg/>`)],
  ['application/pdf', latin1('%PDF-1.7')],
  ['application/pdf', latin1(`${'\0'.repeat(1_024)}%PDF-1.4`)],
  ['application/rtf', latin1('{\\rtf1')],
  [docx, zip],
  [docx, ole],
  [odt, zip],
  ['application/epub+zip', zip],
  ['application/msword', ole],
  ['application/vnd.ms-excel', ole],
  ['application/zip', zip],
  ['application/zip', latin1('PK\x05\x06')],
  ['application/x-tar', tar('ustar\0')],
  ['application/x-tar', tar('')],
  ['application/x-tar', Buffer.alloc(1_024)],
  ['application/gzip', latin1('\x1F\x8B\x08')],
  ['application/x-7z-compressed', latin1('7z\xBC\xAF\x27\x1C')],
]
const wrong: [string, Buffer][] = [
  ['image/png', latin1('\xFF\xD8\xFF\xE0')],
  ['image/png', latin1('\x89PN')],
  ['image/png', latin1('<script>alert(1)</script>')],
  ['image/jpeg', latin1('GIF89a')],
  ['image/gif', latin1('GIF88a')],
  ['image/webp', latin1('RIFF\x10\0\0\0WAVEfmt ')],
  ['image/avif', brand('isom', '\0\0\0\0', 'mp42')],
  ['image/heic', brand('isom', '\0\0\0\0', 'mp42')],
  ['image/tiff', latin1('II')],
  ['image/bmp', latin1('MB')],
  ['image/svg+xml', latin1('hello <svg>')],
  ['image/svg+xml', latin1('<html><body>svg</body></html>')],
  ['application/pdf', latin1('PDF-1.7')],
  ['application/pdf', latin1(`${'\0'.repeat(1_025)}%PDF-1.4`)],
  ['application/rtf', latin1('rtf')],
  [docx, latin1('%PDF-1.7')],
  [docx, latin1('PK')],
  [odt, ole],
  ['application/msword', zip],
  ['application/msword', latin1('MZ\x90\0')],
  ['application/zip', latin1('Rar!\x1A\x07')],
  ['application/x-tar', latin1('x'.repeat(600))],
  ['application/gzip', latin1('\x1F\x8C')],
  ['application/x-7z-compressed', latin1('7z')],
]

const announce = (mimeType: string) =>
  app.call('POST', '/api/v1/files', { as: owner, json: { name: 'f', mimeType, size: 1 } })

describe('checks of the first bytes', () => {
  for (const [index, [type, bytes]] of right.entries()) {
    test(`a file of type ${type} with its signature is accepted (${index})`, async () => {
      const { status, text } = await sendForm(app, owner, [{ name: 'file', filename: 'f', type, value: bytes }])
      assert.equal(status, 201, text)
    })
  }
  for (const [index, [type, bytes]] of wrong.entries()) {
    test(`a file of type ${type} with other first bytes is rejected and leaves nothing behind (${index})`, async () => {
      await leavesNothing(app, 'BAD_REQUEST', () =>
        sendForm(app, owner, [{ name: 'file', filename: 'f', type, value: bytes }]),
      )
    })
  }

  test('the first bytes are checked as soon as enough have arrived, in chunks of any size', async () => {
    const bytes = Buffer.concat([latin1('\x89PNG\r\n\x1A\n'), Buffer.alloc(100_000)])
    for (const step of [1, 7, 4_099, 4_100]) {
      let head = Buffer.alloc(0)
      for (let at = 0; head.length < 4_100; at += step) {
        head = Buffer.concat([head, bytes.subarray(at, at + step)]).subarray(0, 4_100)
      }
      checkHead('image/png', head)
    }
  })

  test('text, audio, video and data are not checked', async () => {
    for (const type of ['text/plain', 'application/json', 'audio/mpeg', 'video/mp4', 'application/octet-stream']) {
      const { status } = await sendForm(app, owner, [{ name: 'file', filename: 'f', type, value: zip }])
      assert.equal(status, 201, type)
    }
  })

  test('UTF-16 text, which contains NUL bytes, is accepted as text', async () => {
    const value = utf16('hello')
    assert.equal((await sendForm(app, owner, [{ name: 'file', filename: 'f', type: 'text/plain', value }])).status, 201)
  })
})

describe('the types that can be stored', () => {
  test('every type in the list is accepted, in any case and with parameters', async () => {
    assert.ok(storedTypes.size > 100)
    for (const type of storedTypes.keys()) {
      const { status, body } = await announce(`${type.toUpperCase()} ; charset=x`)
      assert.equal(status, 201, type)
      assert.equal(body.data.file.mimeType, type)
    }
  })

  for (const type of [
    'application/x-msdownload',
    'application/vnd.microsoft.portable-executable',
    'application/x-executable',
    'application/x-elf',
    'application/x-mach-binary',
    'application/x-sh',
    'application/x-shellscript',
    'text/x-shellscript',
    'text/x-sh',
    'application/x-bat',
    'application/x-powershell',
    'application/java-archive',
    'application/vnd.android.package-archive',
    'application/vnd.ms-excel.sheet.macroenabled.12',
    'application/x-rar-compressed',
    'image/*',
    '*/*',
    'text',
    '/',
    'text/plain, image/png',
    'text/pläin',
    '__proto__',
  ]) {
    test(`the type ${type} is rejected`, async () => {
      await leavesNothing(app, 'BAD_REQUEST', () => announce(type))
    })
  }
})
