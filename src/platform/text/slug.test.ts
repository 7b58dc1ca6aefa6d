import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { freeSlug, randomSlug, slugOf } from './slug.ts'

const cases: [string, string][] = [
  ['Sales & Marketing', 'sales-marketing'],
  ['  Éléonore  Œuvre ', 'eleonore-oeuvre'],
  ['Straße nach Łódź', 'strasse-nach-lodz'],
  ['Команда Щукина', 'komanda-shchukina'],
  ['Ελληνική ομάδα', 'elliniki-omada'],
  ['Ⅻ ﬁles', 'xii-files'],
  ['日本語', 'workspace'],
  ['🚀', 'workspace'],
  ['---', 'workspace'],
]
for (const [name, slug] of cases) {
  test(`the slug of ${name} is ${slug}`, () => assert.equal(slugOf(name, 'workspace'), slug))
}

test('slugOf returns at most 63 characters and is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (name) => {
      const slug = slugOf(name, 'x')
      assert.match(slug, /^[a-z0-9]+(-[a-z0-9]+)*$/)
      assert.ok(slug.length <= 63)
      assert.equal(slugOf(slug, 'x'), slug)
    }),
  )
})

test('a random slug begins with the slug and stays within 63 characters', () => {
  assert.match(randomSlug('team'), /^team-[0-9a-f]{6}$/)
  assert.match(randomSlug('a'.repeat(63)), /^a{56}-[0-9a-f]{6}$/)
  assert.notEqual(randomSlug('team'), randomSlug('team'))
})

test('a used slug gets a number and stays within 63 characters', () => {
  assert.equal(freeSlug('team', new Set()), 'team')
  assert.equal(freeSlug('team', new Set(['team', 'team-2'])), 'team-3')
  const long = 'a'.repeat(63)
  assert.equal(freeSlug(long, new Set([long])), `${'a'.repeat(61)}-2`)
})
