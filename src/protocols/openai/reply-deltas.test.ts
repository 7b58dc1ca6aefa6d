import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamPart } from '../../sessions/streams/stream-parts.ts'
import { createReplyDeltas } from './reply-deltas.ts'

const start: StreamPart = { type: 'start-step' }
const again: StreamPart = { type: 'reset-step' }
const say = (text: string, id = 'a'): StreamPart[] =>
  text.split(/(?<= )/).map((delta) => ({ type: 'text-delta', id, delta }))

/** The concatenated content of all deltas. */
const read = (...parts: (StreamPart | StreamPart[])[]): string => {
  const toDelta = createReplyDeltas()
  return parts
    .flat()
    .map((part) => toDelta(part)?.content ?? '')
    .join('')
}

test('joins the text of several steps and blocks as paragraphs', () => {
  assert.equal(
    read(start, say('One two'), say('three', 'b'), start, start, say('four', 'c')),
    'One two\n\nthree\n\nfour',
  )
  assert.equal(read(start, start, say('first')), 'first')
})

test('leaves out text that a repeated model call produces again, however it is split into deltas', () => {
  assert.equal(read(start, say('One two '), again, say('One two three', 'b')), 'One two three')
  assert.equal(
    read(start, say('One two'), again, [{ type: 'text-delta', id: 'b', delta: 'One two three' }]),
    'One two three',
  )
  assert.equal(
    read(start, say('One'), say('two', 'b'), again, say('One', 'c'), say('two three', 'd')),
    'One\n\ntwo three',
  )
  assert.equal(read(start, say('x', 'o'), start, say('One '), again, say('One two', 'b')), 'x\n\nOne two')
  assert.equal(
    read(start, say('One two three'), again, say('One ', 'b'), again, say('One two three four', 'c')),
    'One two three four',
  )
})

test('sends the whole text of a repeated model call as a new paragraph when it differs from the first one', () => {
  assert.equal(read(start, say('One two'), again, say('One three', 'b')), 'One two\n\nOne three')
  assert.equal(
    read(start, say('One two'), again, say('Other words', 'b'), again, say('Other words here', 'c')),
    'One two\n\nOther words here',
  )
  assert.equal(read(start, again, say('One')), 'One')
})
