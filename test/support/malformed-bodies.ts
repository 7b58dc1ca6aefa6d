// Bodies that no provider sends, for endpoints that must handle any signed content.
import fc from 'fast-check'

/** Names of fields that provider adapters read, and names of properties that every object has. */
const names =
  'id type event event_id update_id challenge token action data object message chat from text channel user ts thread_ts comment issue repository sender actor organizationId webhookTimestamp MessageSid MessageStatus Body From messageId publishTime application_id channel_id options payload webhookEvent date message_id entry fields __proto__ constructor toString length'
    .split(' ')
    .concat(['\0', '\ud800', ''])
const name = fc.constantFrom(...names)

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    'x'.repeat(5_000),
    'message',
    'push',
  ),
  fc.constantFrom<unknown>(0, -1, 0.5, 2 ** 31, 2 ** 53, 2 ** 63, 2 ** 64, 1e300, -1e300),
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(name, tie('value'), { maxKeys: 8 }),
}))

const fixed = [
  '{}',
  '[]',
  'null',
  '7',
  '"text"',
  'true',
  '',
  '{',
  '[{',
  '\ufeff{}',
  '{"a":1}{"b":2}',
  'a=1&b=%00&payload=%7B',
  '['.repeat(100_000),
  '{"a":'.repeat(50_000),
  `{"id":${'9'.repeat(400)},"type":1e999}`,
  '{"__proto__":{"type":"a"},"constructor":{"prototype":{}}}',
  `{"type":"${'x'.repeat(100_000)}"}`,
]

/** JSON of every shape, and text that is not JSON. */
export const malformedBody: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...fixed),
  fc.dictionary(name, value, { maxKeys: 12 }).map((body) => JSON.stringify(body)),
  value.map((body) => JSON.stringify(body)),
  fc
    .dictionary(fc.constantFrom(...names.filter((one) => one.isWellFormed())), fc.string())
    .map((fields) => new URLSearchParams(fields).toString()),
)

export const fixedBodies: readonly string[] = fixed
