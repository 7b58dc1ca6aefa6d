import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { limits } from '../payload.ts'
import { cutToBytes, detectEncoding, previewText, textPrefixBytes } from './text.ts'

const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()
const shown = (bytes: Buffer): string | undefined => previewText(bytes, true).text

test('the encoding of text is detected with and without a byte order mark', () => {
  const text = 'Grüße aus Köln, 東京 und 🚀\r\nZeile zwei'
  for (const [name, bytes] of Object.entries({
    'UTF-8': Buffer.from(text),
    'UTF-8 with a mark': Buffer.from(`\ufeff${text}`),
    'UTF-16 LE with a mark': Buffer.from(`\ufeff${text}`, 'utf16le'),
    'UTF-16 BE with a mark': utf16be(`\ufeff${text}`),
    'UTF-16 LE': Buffer.from(text, 'utf16le'),
    'UTF-16 BE': utf16be(text),
  })) {
    assert.equal(shown(bytes), text, name)
  }
  assert.equal(shown(Buffer.from('na\xefve caf\xe9, 50 \x80', 'latin1')), 'naïve café, 50 €')
  assert.equal(shown(Buffer.alloc(0)), '')
  assert.equal(shown(Buffer.from('plain ASCII')), 'plain ASCII')
})

test('invalid bytes in UTF-8 text are replaced, and the rest is still decoded as UTF-8', () => {
  const bytes = Buffer.concat([Buffer.from('Grüße aus Köln '), Buffer.from([0xff, 0xc3]), Buffer.from(' 🚀')])
  assert.equal(shown(bytes), 'Grüße aus Köln \ufffd\ufffd 🚀')
})

test('UTF-8 is detected when its first bytes end in the middle of a character', () => {
  const bytes = Buffer.from('äöü€🚀')
  for (let length = 1; length <= bytes.length; length += 1) {
    assert.equal(detectEncoding(bytes.subarray(0, length), false), 'utf-8', `${length}`)
  }
})

test('text is cut at 524,288 bytes of UTF-8, never inside a character, and marked as truncated', () => {
  for (const [text, isCut] of [
    ['a'.repeat(limits.textBytes), false],
    ['a'.repeat(limits.textBytes + 1), true],
    ['🚀'.repeat(limits.textBytes / 4), false],
    [`a${'🚀'.repeat(limits.textBytes / 4)}`, true],
    [`abc${'é'.repeat(limits.textBytes / 2)}`, true],
    ['€'.repeat(limits.textBytes), true],
  ] as const) {
    for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`, 'utf16le')]) {
      const isWhole = bytes.length <= textPrefixBytes
      const preview = previewText(bytes.subarray(0, textPrefixBytes), isWhole)
      assert.equal(preview.truncated, isCut)
      assert.ok(text.startsWith(preview.text!), 'what is shown is the beginning of the text')
      const size = Buffer.byteLength(preview.text!)
      assert.ok(size <= limits.textBytes && size > limits.textBytes - 4, `${size}`)
      assert.ok(preview.text!.isWellFormed())
    }
  }
})

test('a cut text is the longest prefix of whole characters within the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, maxBytes) => {
      const cut = cutToBytes(text, maxBytes)
      assert.ok(text.startsWith(cut))
      assert.ok(Buffer.byteLength(cut) <= maxBytes)
      const [next = ''] = text.slice(cut.length)
      assert.ok(next === '' || Buffer.byteLength(cut + next) > maxBytes)
    }),
  )
})

test('NUL is shown as a replacement character', () => {
  assert.equal(shown(Buffer.from('a\0b')), 'a\ufffdb')
})

test('a text of bytes that are not UTF-8, or of NUL, takes at most ten times the CPU time of another, because other requests wait for it', () => {
  // In a process of its own, because the counters of coverage make loops ten times as slow and native code no slower.
  const { NODE_V8_COVERAGE: _, ...env } = process.env
  const script = `
    import { previewText } from ${JSON.stringify(new URL('text.ts', import.meta.url).href)}
    const cpuMsOf = (bytes) => Math.min(...Array.from({ length: 5 }, () => {
      const before = process.cpuUsage()
      previewText(bytes, true)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    }))
    const length = ${textPrefixBytes}
    const usual = cpuMsOf(Buffer.from('é'.repeat(length / 2)))
    console.log(JSON.stringify({ usual, others: [0xe9, 0xff, 0].map((byte) => cpuMsOf(Buffer.alloc(length, byte))) }))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { env, encoding: 'utf8' })
  const { usual, others } = JSON.parse(output) as { usual: number; others: number[] }
  assert.equal(others.length, 3)
  for (const ms of others) assert.ok(ms < 10 * usual, output)
})

test('the letters of Windows-1252 after a long part in ASCII are recognised', () => {
  const ascii = 'a'.repeat(10_000)
  assert.equal(shown(Buffer.from(`${ascii}caf\xe9`, 'latin1')), `${ascii}café`)
  assert.equal(
    shown(Buffer.concat([Buffer.from(`${ascii}é`), Buffer.from([0xff]), Buffer.from('é')])),
    `${ascii}é\ufffdé`,
  )
})
