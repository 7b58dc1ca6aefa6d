import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTrue, readIfHeader, tokensIn } from './if-header.ts'
import type { ResourceState } from './if-header.ts'

const state = (etag: string | undefined, ...tokens: string[]): ResourceState => ({ etag, tokens: new Set(tokens) })
const holds = (header: string, ...states: ResourceState[]): boolean => isTrue(readIfHeader(header), states)

test('an If header is true when all conditions of one of its lists are, as in the examples of RFC 4918', () => {
  const held = state('"a"', 'urn:uuid:1')
  assert.ok(holds('(<urn:uuid:1> ["a"]) (["b"])', held, held))
  assert.ok(!holds('(<urn:uuid:1> ["b"])', held))
  assert.ok(holds('(Not <urn:uuid:2> <urn:uuid:1>)', held))
  assert.ok(holds('(<urn:uuid:2>) (Not <DAV:no-lock>)', held, held))
  assert.ok(!holds('(<DAV:no-lock>)', held))
  assert.ok(!holds('(["a"])', state(undefined)))
  assert.ok(holds('</specs/a> (<urn:uuid:1>) </specs/b> (Not ["x"])', held, state(undefined)))
})

test('lists belong to the resource in front of them, and every token is submitted', () => {
  const lists = readIfHeader('<http://h/dav/a> (<urn:uuid:1>) (["x"]) <http://h/dav/b>(Not <urn:uuid:2>)')
  assert.deepEqual(
    lists.map(({ resource }) => resource),
    ['http://h/dav/a', 'http://h/dav/a', 'http://h/dav/b'],
  )
  assert.deepEqual([...tokensIn(lists)], ['urn:uuid:1', 'urn:uuid:2'])
})

test('an If header that is malformed, mixes lists or is too long is rejected', () => {
  const rejected = [
    '',
    '()',
    '(',
    '(<a>',
    '(<a>))',
    '((<a>))',
    '(Not)',
    '(Not Not <a>)',
    '<a>',
    '[x]',
    '(<a>) <b> (<c>)',
    '("a")',
    '(<a>) '.repeat(33),
    `(${'<a> '.repeat(65)})`,
    Array.from({ length: 9 }, (_, index) => `<r${index}> (<a>)`).join(' '),
  ]
  for (const header of rejected) assert.throws(() => readIfHeader(header), /If header/, header)
})
