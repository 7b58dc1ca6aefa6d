import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { splitText } from './split-text.ts'

const withoutGaps = (text: string): string => text.replaceAll(/\s+/g, '')

describe('splitText', () => {
  test('text is split at a blank line, else a line break, else a space, else anywhere', () => {
    assert.deepEqual(splitText('one two\n\nthree four', 12), ['one two', 'three four'])
    assert.deepEqual(splitText('one two\nthree four', 12), ['one two', 'three four'])
    assert.deepEqual(splitText('one two three four', 10), ['one two', 'three four'])
    assert.deepEqual(splitText('abcdefghij', 4), ['abcd', 'efgh', 'ij'])
    assert.deepEqual(splitText('', 4), [])
  })

  test('splitting drops only whitespace, and no part is too long, empty or ill-formed', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 300 })
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 50 }), (text, maxLength) => {
        fc.pre(text.isWellFormed())
        const parts = splitText(text, maxLength)
        assert.ok(parts.every((part) => part.length <= maxLength && part.trim() !== '' && part.isWellFormed()))
        assert.equal(withoutGaps(parts.join('')), withoutGaps(text))
      }),
    )
  })
})
