import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createSealer, parseEncryptionKey, UnsealError } from './secrets.ts'
import type { EncryptionKey, SealedAt } from './secrets.ts'

const newKey = (id: string): EncryptionKey => ({ id, key: randomBytes(32) })
const current = newKey('k2')
const old = newKey('k1')
const sealer = createSealer([current, old])
const oldSealer = createSealer([old])

const anyText = fc.string({ unit: 'grapheme', maxLength: 200 })
const anyName = fc.string({ unit: 'grapheme', maxLength: 20 })
const anyPlace = fc.record({ table: anyName, column: anyName, orgId: anyName, rowId: anyName })
const place: SealedAt = { table: 'things', column: 'secret', orgId: 'org', rowId: 'row' }

/** The error of opening, or a failure when it opens. */
const refusalOf = (sealed: string, at = place, by = sealer): UnsealError => {
  try {
    by.open(sealed, at)
  } catch (error) {
    assert.ok(error instanceof UnsealError, String(error))
    return error
  }
  assert.fail(`${sealed} opened`)
}

describe('a sealed text', () => {
  test('a sealed text opens at its own location, whatever its content', () => {
    fc.assert(
      fc.property(anyText, anyPlace, (text, at) => {
        assert.equal(sealer.open(sealer.seal(text, at), at), text)
      }),
    )
  })

  test('a sealed text does not open in another table, column, row or org', () => {
    fc.assert(
      fc.property(anyText, anyPlace, anyPlace, (text, at, other) => {
        const sealed = sealer.seal(text, at)
        for (const part of ['table', 'column', 'orgId', 'rowId'] as const) {
          if (at[part] === other[part]) continue
          assert.match(refusalOf(sealed, { ...at, [part]: other[part] }).message, /changed or moved/)
        }
      }),
    )
  })

  test('a sealed text does not open at a location whose concatenated names are equal', () => {
    const sealed = sealer.seal('text', { table: 'a', column: 'bc', orgId: '', rowId: 'd' })
    refusalOf(sealed, { table: 'ab', column: 'c', orgId: '', rowId: 'd' })
    refusalOf(sealed, { table: 'a', column: 'bc', orgId: 'd', rowId: '' })
  })

  test('a sealed text does not open after a change of any character', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
    fc.assert(
      fc.property(anyText, fc.nat(), fc.constantFrom(...alphabet), fc.nat(2), (text, position, character, what) => {
        const sealed = sealer.seal(text, place)
        const at = position % sealed.length
        const changed = sealed.slice(0, at) + (what === 0 ? '' : character) + sealed.slice(what === 2 ? at : at + 1)
        if (changed !== sealed) refusalOf(changed)
      }),
      { numRuns: 1_000 },
    )
  })

  test('sealing the same text twice gives different values that do not contain it', () => {
    const sealed = Array.from({ length: 100 }, () => sealer.seal('correct horse battery staple', place))
    assert.equal(new Set(sealed).size, 100)
    for (const one of sealed) {
      assert.match(one, /^v1\.k2\.[A-Za-z0-9_-]+$/)
      assert.doesNotMatch(Buffer.from(one.split('.')[2]!, 'base64url').toString('latin1'), /horse/)
    }
  })

  test('the first key seals, every configured key opens, and the value names its key', () => {
    const sealed = oldSealer.seal('text', place)
    assert.equal(sealer.keyIdOf(sealed), 'k1')
    assert.equal(sealer.open(sealed, place), 'text')
    assert.equal(sealer.keyIdOf(sealer.seal('text', place)), sealer.currentKeyId)
  })

  test('the error for a missing or wrong key names the key and nothing else', () => {
    const sealed = sealer.seal('text', place)
    const missing = refusalOf(sealed, place, oldSealer)
    assert.equal(missing.keyId, 'k2')
    assert.equal(missing.message, 'The encryption key k2 is not among the configured ones.')
    const wrong = refusalOf(sealed, place, createSealer([newKey('k2')]))
    assert.equal(wrong.keyId, 'k2')
    assert.doesNotMatch(`${wrong.message} ${wrong.stack}`, new RegExp(sealed.slice(6, 26)))
  })

  test('a truncated or unsealed text has a different error than a wrong key', () => {
    for (const text of ['', 'text', 'v1.k1', 'v1..AAAA', 'v2.k1.AAAA']) {
      assert.match(refusalOf(text).message, /not a sealed value/)
    }
    assert.match(refusalOf(sealer.seal('text', place).slice(0, 20)).message, /sealed under the key k2 is damaged/)
  })

  test('a text with an unpaired surrogate cannot be sealed', () => {
    assert.throws(() => sealer.seal('half \ud800', place), /surrogate/)
  })
})

test('derived keys are the same in every process and differ for every purpose and key', () => {
  const [first, second] = sealer.deriveKeys('signing')
  assert.deepEqual(createSealer([current]).deriveKeys('signing'), [first])
  assert.deepEqual([first?.id, second?.id], ['k2', 'k1'])
  const all = [first, second, sealer.deriveKeys('other')[0], current].map((one) => one!.key.toString('hex'))
  assert.equal(new Set(all).size, 4)
})

test('parseEncryptionKey accepts id:base64 of 32 bytes only', () => {
  const key = randomBytes(32).toString('base64')
  assert.deepEqual(parseEncryptionKey(` k-1_A:${key}\n`), { id: 'k-1_A', key: Buffer.from(key, 'base64') })
  for (const text of ['', key, `:${key}`, `k1:${key.slice(4)}`, `k.1:${key}`, `${'k'.repeat(33)}:${key}`]) {
    assert.equal(parseEncryptionKey(text), undefined, text)
  }
})
