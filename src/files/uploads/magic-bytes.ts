import { badRequest } from '../../platform/http/errors.ts'
import { storedTypes } from './mime-types.ts'
import type { Signature } from './mime-types.ts'

/** How many bytes of a file are checked. TAR needs 512; SVG may have a long preamble. */
export const headBytes = 4_100

const startsWith =
  (...signatures: string[]) =>
  (head: Buffer): boolean =>
    signatures.some((signature) => head.subarray(0, signature.length).toString('latin1') === signature)

/** ISO base media files (ISO/IEC 14496-12) name their brand and compatible brands in their first box. */
const hasBrand =
  (...brands: string[]) =>
  (head: Buffer): boolean => {
    if (head.length < 12 || head.toString('latin1', 4, 8) !== 'ftyp') return false
    const end = Math.min(head.readUInt32BE(0), head.length)
    for (let at = 8; at + 4 <= end; at += 4) {
      // The four bytes at 12 are a version, not a brand.
      if (at !== 12 && brands.includes(head.toString('latin1', at, at + 4))) return true
    }
    return false
  }

// The header of a TAR entry has a checksum of its bytes, with the checksum field counted as eight spaces. It identifies
// archives older than `ustar`, too. An empty archive consists of zero blocks.
const isTar = (head: Buffer): boolean => {
  if (head.length < 512) return false
  const block = head.subarray(0, 512)
  if (block.every((byte) => byte === 0)) return true
  const stated = Number.parseInt(block.toString('latin1', 148, 156).replaceAll(/[\0 ]+/g, ''), 8)
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  return stated === sum
}

const textOf = (head: Buffer): string => {
  if (head[0] === 0xff && head[1] === 0xfe) return head.toString('utf16le')
  if (head[0] === 0xfe && head[1] === 0xff)
    return Buffer.from(head.subarray(0, head.length & ~1))
      .swap16()
      .toString('utf16le')
  return head.toString('utf8')
}

const isSvg = (head: Buffer): boolean => {
  const text = textOf(head)
    .replace(/^\uFEFF/, '')
    .trimStart()
  // A long comment or DOCTYPE may move the root element beyond the checked bytes; it must be markup in any case.
  return (
    text.startsWith('<') &&
    (/<([\w-]+:)?svg[\s>/]/.test(text) || (head.length >= headBytes && /^<(\?xml|!--|!DOCTYPE)/i.test(text)))
  )
}

const isZip = startsWith('PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08')
const isOle = startsWith('\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1')

const tests: Record<Signature, (head: Buffer) => boolean> = {
  png: startsWith('\x89PNG\r\n\x1A\n'),
  jpeg: startsWith('\xFF\xD8\xFF'),
  gif: startsWith('GIF87a', 'GIF89a'),
  webp: (head) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP',
  avif: hasBrand('avif', 'avis'),
  heif: hasBrand('heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs', 'mif1', 'msf1', 'mif2'),
  tiff: startsWith('II*\0', 'MM\0*', 'II+\0', 'MM\0+'),
  bmp: startsWith('BM'),
  svg: isSvg,
  // PDF readers accept up to a kilobyte before the header.
  pdf: (head) => head.subarray(0, 1_024 + 5).includes('%PDF-'),
  rtf: startsWith('{\\rtf'),
  zip: isZip,
  // An encrypted document is stored in an OLE file.
  ooxml: (head) => isZip(head) || isOle(head),
  ole: isOle,
  tar: isTar,
  gzip: startsWith('\x1F\x8B'),
  '7z': startsWith('7z\xBC\xAF\x27\x1C'),
}

const sniffed = [
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
] as const

/** The type of a picture or PDF by its first bytes; undefined for every other file. */
export const sniffType = (head: Buffer): string | undefined => {
  if (startsWith('%PDF-')(head)) return 'application/pdf'
  return sniffed.find(([signature]) => tests[signature](head))?.[1]
}

/**
 * Checks the first bytes of a file against its declared type; `head` is the whole file when it is shorter than
 * `headBytes`. Throws BAD_REQUEST when an image, PDF, office document or archive does not have its type's signature. An
 * empty file matches every type.
 */
export const checkHead = (mimeType: string, head: Buffer): void => {
  const signature = storedTypes.get(mimeType)
  if (signature === undefined || head.length === 0 || tests[signature](head)) return
  throw badRequest(`The content of the file does not match the type ${mimeType}.`)
}

/** Checks the first bytes of a stream with `check`, once, as soon as there are enough of them or the stream has ended. */
export const createHeadCheck = (check: (head: Buffer) => void): { add(chunk: Buffer): void; end(): void } => {
  let head: Buffer | undefined = Buffer.alloc(0)
  const end = (): void => {
    if (head !== undefined) check(head)
    head = undefined
  }
  return {
    add: (chunk) => {
      if (head === undefined) return
      head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)])
      if (head.length >= headBytes) end()
    },
    end,
  }
}
