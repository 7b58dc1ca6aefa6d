import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Type } from './type.ts'

const samples = (builders: typeof Type): unknown[] => {
  const { Object, Optional, Pick, Partial, Record, String, Integer, Literal, Union, Null, Enum } = builders
  const person = Object(
    {
      name: String({ minLength: 1 }),
      age: Optional(Integer({ minimum: 0 })),
      address: Optional(Object({ city: String() })),
    },
    { additionalProperties: false, description: 'Somebody' },
  )
  return [
    person,
    Object({}),
    Object({ note: Optional(String()) }),
    Pick(person, ['age']),
    Pick(person, ['name'], { description: 'Only the name' }),
    Partial(person, { minProperties: 1 }),
    Record(String(), Integer(), { maxProperties: 3 }),
    Union([String(), Null()], { description: 'Text or nothing' }),
    Literal('a'),
    Literal(1, { description: 'One' }),
    Literal(true),
    Enum(['a', 'b'], { description: 'One of two' }),
    builders.Array(String(), { maxItems: 2 }),
    builders.Boolean({ default: false }),
    builders.Number({ maximum: 1.5 }),
    builders.Unknown({ description: 'Anything' }),
    builders.Unsafe({ type: 'null', description: 'As it is' }),
  ]
}

test('schemas are the ones that TypeBox builds', () => {
  assert.deepEqual(samples(Type), JSON.parse(JSON.stringify(samples(TypeBox))))
})

test('what is optional in one place is required in another', () => {
  const id = Type.String()
  assert.deepEqual(Type.Object({ a: Type.Optional(id), b: id }).required, ['b'])
})
