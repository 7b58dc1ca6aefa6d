import { isUtf8 } from 'node:buffer'
import type { PreviewPayload } from '../payload.ts'
import { limits } from '../payload.ts'

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

const startsWith = (bytes: Buffer, ...prefix: number[]): boolean => prefix.every((byte, at) => bytes[at] === byte)

const markOf = (bytes: Buffer): Encoding | undefined => {
  if (startsWith(bytes, 0xef, 0xbb, 0xbf)) return 'utf-8'
  if (startsWith(bytes, 0xff, 0xfe)) return 'utf-16le'
  if (startsWith(bytes, 0xfe, 0xff)) return 'utf-16be'
  return undefined
}

// In UTF-16, Latin characters, spaces and line breaks have a zero byte, always at even or always at odd offsets. Text
// in other encodings has no zero bytes.
const wideEncodingOf = (bytes: Buffer): Encoding | undefined => {
  const zeros = [0, 0]
  for (const [at, byte] of bytes.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd * 50 >= bytes.length && even * 10 < odd) return 'utf-16le'
  if (even * 50 >= bytes.length && odd * 10 < even) return 'utf-16be'
  return undefined
}

const pieceBytes = 4_096
/** Characters beyond ASCII that suffice to tell the encoding. Counting a megabyte of them would take a tenth of a second. */
const enoughCharacters = 1_000

// Text with a few invalid bytes is still shown as UTF-8. Latin-1 text rarely contains valid UTF-8 sequences, because
// its letters above ASCII rarely stand next to each other.
const isMostlyUtf8 = (bytes: Buffer): boolean => {
  const decoder = new TextDecoder('utf-8')
  let whole = 0
  let broken = 0
  for (let from = 0; from < bytes.length && whole + broken < enoughCharacters; from += pieceBytes) {
    const decoded = decoder.decode(bytes.subarray(from, from + pieceBytes), { stream: true })
    for (const [character] of decoded.matchAll(/[^\0-\x7f]/gu)) {
      if (character === '\ufffd') broken += 1
      else whole += 1
    }
  }
  return whole > broken
}

const withoutCutCharacter = (bytes: Buffer): Buffer => {
  let end = bytes.length
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1
  const lead = bytes[end - 1] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return end - 1 + length > bytes.length ? bytes.subarray(0, end - 1) : bytes
}

/**
 * Detects the encoding of a text from its first bytes: by a byte order mark, by the zero bytes of UTF-16, or by valid
 * UTF-8; otherwise Windows-1252. `isWhole`: the bytes are the whole text.
 */
export const detectEncoding = (bytes: Buffer, isWhole: boolean): Encoding => {
  const marked = markOf(bytes)
  if (marked) return marked
  const sample = isWhole ? bytes : withoutCutCharacter(bytes)
  const wide = isWhole && bytes.length % 2 === 1 ? undefined : wideEncodingOf(bytes.subarray(0, 65_536))
  if (wide) return wide
  return isUtf8(sample) || isMostlyUtf8(sample) ? 'utf-8' : 'windows-1252'
}

/** With U+FFFD for NUL. Of a megabyte of them, `replaceAll` would take a third of a second. */
const withoutNul = (text: string): string => {
  if (!text.includes('\0')) return text
  const bytes = Buffer.from(text, 'utf16le')
  const units = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
  for (let at = 0; at < units.length; at += 1) units[at] ||= 0xff_fd
  return bytes.toString('utf16le')
}

/** Decodes chunks of bytes to text without the byte order mark. Replaces NUL by U+FFFD. */
export const createDecoder = (bytes: Buffer, isWhole: boolean): ((chunk: Buffer, isLast: boolean) => string) => {
  const decoder = new TextDecoder(detectEncoding(bytes, isWhole))
  return (chunk, isLast) => withoutNul(decoder.decode(chunk, { stream: !isLast }))
}

/** The longest prefix of whole characters that has at most `maxBytes` bytes in UTF-8. */
export const cutToBytes = (text: string, maxBytes: number): string => {
  // A UTF-16 code unit has at most three bytes in UTF-8.
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.from(text.slice(0, maxBytes))
  if (bytes.length <= maxBytes && text.length <= maxBytes) return text
  let end = Math.min(maxBytes, bytes.length)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

/** Number of bytes that the preview of a text file needs. UTF-16 has up to two bytes for one byte of UTF-8. */
export const textPrefixBytes = 2 * limits.textBytes + 4

/** Returns the preview of a text file from its first bytes. */
export const previewText = (prefix: Buffer, isWhole: boolean): PreviewPayload => {
  const decode = createDecoder(prefix, isWhole)
  const decoded = decode(prefix, isWhole)
  const text = cutToBytes(decoded, limits.textBytes)
  return { kind: 'text', truncated: !isWhole || text.length < decoded.length, text }
}
