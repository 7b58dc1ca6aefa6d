import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { removerOf } from './known-fields.ts'

const rest = (schema: object, value: unknown): unknown => {
  removerOf(schema)?.(value)
  return value
}

describe('fields that a schema does not name', () => {
  test('are removed at every depth: from objects, from items of lists and from what may be null', () => {
    const Inner = Type.Object({ x: Type.Number() })
    const schema = Type.Object({
      one: Inner,
      many: Type.Array(Inner),
      perhaps: Type.Optional(Type.Union([Inner, Type.Null()])),
      words: Type.Array(Type.String()),
    })
    const given = { x: 1, id: 2 }
    assert.deepEqual(
      rest(schema, {
        one: { ...given },
        many: [{ ...given }, { ...given }],
        perhaps: { ...given },
        words: ['id'],
        id: 3,
      }),
      { one: { x: 1 }, many: [{ x: 1 }, { x: 1 }], perhaps: { x: 1 }, words: ['id'] },
    )
    assert.deepEqual(rest(schema, { one: given, many: [], perhaps: null }), { one: { x: 1 }, many: [], perhaps: null })
  })

  test('are those that no part of allOf names', () => {
    const schema = {
      allOf: [
        Type.Object({ a: Type.String(), both: Type.Object({ x: Type.Number() }) }),
        Type.Object({ b: Type.String(), both: Type.Object({ y: Type.Number() }) }),
        { required: ['a'] },
      ],
    }
    assert.deepEqual(rest(schema, { a: '1', b: '2', c: '3', both: { x: 1, y: 2, z: 3 } }), {
      a: '1',
      b: '2',
      both: { x: 1, y: 2 },
    })
    const within = Type.Object({ c: Type.String() }, { allOf: schema.allOf })
    assert.deepEqual(rest(within, { a: '1', c: '3', d: '4' }), { a: '1', c: '3' })
  })

  test('are those that no option of a union names', () => {
    const schema = Type.Union([
      Type.Object({ kind: Type.Literal('a'), of: Type.Object({ x: Type.Number() }) }),
      Type.Object({ kind: Type.Literal('b'), of: Type.Object({ y: Type.Number() }), more: Type.String() }),
    ])
    assert.deepEqual(rest(schema, { kind: 'a', of: { x: 1, z: 2 }, more: 'm', other: 'o' }), {
      kind: 'a',
      of: { x: 1 },
      more: 'm',
    })
  })

  test('are kept where a schema allows any field, and in options of a union that do', () => {
    const settings = Type.Object({ voice: Type.Object({ speed: Type.Number() }) }, { additionalProperties: true })
    assert.deepEqual(rest(settings, { voice: { speed: 1, id: 2 }, theme: { dark: true } }), {
      voice: { speed: 1 },
      theme: { dark: true },
    })
    const anything = { a: { b: { c: 1 } } }
    for (const schema of [
      Type.Unknown(),
      Type.Object({}, { additionalProperties: true }),
      Type.Record(Type.String(), Type.Unknown()),
      Type.Object({ a: Type.Unknown() }),
      Type.Union([Type.Object({ b: Type.String() }), Type.Record(Type.String(), Type.Unknown())]),
    ]) {
      assert.deepEqual(rest(schema, structuredClone(anything)), anything)
    }
    assert.deepEqual(rest(Type.Object({}), { ...anything }), {})
  })
})
