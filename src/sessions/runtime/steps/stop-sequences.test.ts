import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createStopFilter } from './stop-sequences.ts'

test('the text before the first stop sequence is shown, however it is split into pieces', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 0, maxLength: 12 })
  const sequence = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 4 })
  fc.assert(
    fc.property(
      fc.array(letters, { maxLength: 8 }),
      fc.array(sequence, { minLength: 1, maxLength: 4 }),
      (pieces, all) => {
        const filter = createStopFilter(all)
        const shown = pieces.map((piece) => filter.add(piece)).join('') + filter.end()
        const text = pieces.join('')
        const places = all.map((one) => text.indexOf(one)).filter((at) => at !== -1)
        assert.equal(filter.isStopped, places.length > 0)
        // A longer sequence that begins earlier may end later than a shorter one that is complete.
        if (places.length === 0) assert.equal(shown, text)
        else assert.ok(text.startsWith(shown) && all.every((one) => !shown.includes(one)))
      },
    ),
  )
})

test('text is held back only while it could begin a stop sequence', () => {
  const filter = createStopFilter(['END'])
  assert.deepEqual(
    [filter.add('The E'), filter.add('xit E'), filter.add('N'), filter.add('D of')],
    ['The ', 'Exit ', '', ''],
  )
  assert.deepEqual([filter.isStopped, filter.add('more'), filter.end()], [true, '', ''])
})
