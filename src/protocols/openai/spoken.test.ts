import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Frame } from '../../sessions/streams/frames.ts'
import { createSpoken } from './spoken.ts'

const start: Frame = { type: 'start-step' }
const again: Frame = { type: 'reset-step' }
const say = (text: string, id = 'a'): Frame[] =>
  text.split(/(?<= )/).map((delta) => ({ type: 'text-delta', id, delta }))

/** What a reader has in the end. */
const read = (...frames: (Frame | Frame[])[]): string => {
  const spoken = createSpoken()
  return frames
    .flat()
    .map((frame) => spoken(frame)?.content ?? '')
    .join('')
}

test('what is said in several steps and blocks is paragraphs', () => {
  assert.equal(
    read(start, say('One two'), say('three', 'b'), start, start, say('four', 'c')),
    'One two\n\nthree\n\nfour',
  )
  assert.equal(read(start, start, say('first')), 'first')
})

test('words that are said again are left out, however they are cut', () => {
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

test('an answer that goes another way is a paragraph, with all of it', () => {
  assert.equal(read(start, say('One two'), again, say('One three', 'b')), 'One two\n\nOne three')
  assert.equal(
    read(start, say('One two'), again, say('Other words', 'b'), again, say('Other words here', 'c')),
    'One two\n\nOther words here',
  )
  assert.equal(read(start, again, say('One')), 'One')
})
