import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../platform/http/errors.ts'
import { fill, fillPairs, fillPath, pathOfSegments, pick, placeholdersOf } from './templates.ts'

/** Path traversal, separators and arbitrary text. */
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.stringMatching(/^[./\\%2eEfF?#@:&=;]{0,12}$/),
  fc.constantFrom(
    '..',
    '.',
    '',
    '%2e%2e',
    '..%2f',
    '/..',
    '//evil.example',
    'http://evil.example',
    '\\..\\',
    '{x}',
    '?a=1',
    '#',
    '\0',
    '\uD800',
  ),
)

const orRejected = (make: () => string): string | undefined => {
  try {
    return make()
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'BAD_REQUEST')
    return undefined
  }
}

describe('path templates', () => {
  test('a path has exactly the segments of its template for every value, or is rejected', () => {
    fc.assert(
      fc.property(hostile, hostile, (a, b) => {
        const path = orRejected(() => fillPath('/v1/{a}/items/{b}.json', { a, b }))
        if (path === undefined) return
        const url = new URL(`https://api.example.com${path}`)
        assert.equal(url.origin, 'https://api.example.com')
        assert.equal(url.pathname, path)
        assert.equal(url.search + url.hash, '')
        assert.deepEqual(url.pathname.split('/').map(decodeURIComponent), ['', 'v1', a, 'items', `${b}.json`])
      }),
      { numRuns: 2_000 },
    )
  })

  test('a placeholder of several segments never leaves its parent path', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 5 }), (parts) => {
        const path = orRejected(() => fillPath('/base/{rest*}', { rest: parts.join('/') }))
        if (path === undefined) return
        const url = new URL(`https://api.example.com${path}`)
        assert.ok(url.pathname.startsWith('/base/'))
        assert.equal(url.pathname, path)
        assert.equal(url.search + url.hash, '')
      }),
      { numRuns: 2_000 },
    )
  })

  test('a path can have a trailing slash but no other empty segment', () => {
    assert.equal(pathOfSegments(['a', '']), '/a/')
    assert.equal(pathOfSegments([]), '')
    for (const segments of [[''], ['', 'a'], ['a', '', 'b'], ['a', '..'], ['.']]) {
      assert.throws(() => pathOfSegments(segments), ApiError)
    }
  })
})

describe('body templates', () => {
  test('a body keeps the types of values and omits missing ones', () => {
    const template = {
      title: '{title}',
      nested: { list: ['{a}', 'fixed', '{missing}'] },
      absent: '{missing}',
      text: 'to {a}',
    }
    const body = fill(template, { title: { any: [1] }, a: 5 })
    assert.deepEqual(body, { title: { any: [1] }, nested: { list: [5, 'fixed'] }, text: 'to 5' })
  })

  test('placeholders in values are not replaced', () => {
    fc.assert(
      fc.property(fc.string(), (a) => {
        assert.deepEqual(fill({ a: '{a}', b: '-{a}-' }, { a: `${a}{secret}`, secret: 'planted' }), {
          a: `${a}{secret}`,
          b: `-${a}{secret}-`,
        })
      }),
    )
  })
})

test('query pairs are text, and a list becomes several pairs', () => {
  const pairs = fillPairs({ a: '{a}', b: '{b}', c: '{c}', d: 5, e: '{e}' }, { a: ['x', 'y'], b: false, e: { x: 1 } })
  assert.deepEqual(pairs, [
    ['a', 'x'],
    ['a', 'y'],
    ['b', 'false'],
    ['d', '5'],
    ['e', '{"x":1}'],
  ])
})

test('placeholders are found at every depth of a template', () => {
  assert.deepEqual(placeholdersOf({ a: '{one}/x-{two}', b: ['{three*}', 7, null, { c: '{four}' }] }), [
    'one',
    'two',
    'three',
    'four',
  ])
  assert.deepEqual(placeholdersOf('query { viewer { id } }'), [])
})

test('pick keeps only the listed paths in their structure', () => {
  const value = {
    items: [
      { id: 1, user: { login: 'a', token: 'planted' } },
      { id: 2, user: null },
    ],
    secret: 'planted',
    n: 0,
  }
  assert.deepEqual(pick(value, ['items.id', 'items.user.login', 'n', 'missing.x', 'constructor']), {
    items: [
      { id: 1, user: { login: 'a' } },
      { id: 2, user: null },
    ],
    n: 0,
  })
})
