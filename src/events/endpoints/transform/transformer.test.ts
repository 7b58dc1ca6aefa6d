import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { until } from '../../../../test/support/until.ts'
import { createTransformer, TransformError } from './transformer.ts'

// On a busy machine, CPU time comes slowly. It is the limit of CPU time that is tested.
const transformer = createTransformer({ wallMs: 60_000 })
after(() => transformer.close())

const event = {
  id: 'e1',
  type: 'agent.updated',
  timestamp: '2026-01-02T03:04:05.678Z',
  actor: { name: 'Ada' },
  data: { name: 'Secret name', changed: ['model', 'name'] },
}
let orgs = 0
const newOrg = (): string => `org ${(orgs += 1)}`
const apply = async (transform: string, orgId = newOrg(), given: object = event): Promise<unknown> =>
  JSON.parse(await transformer.apply({ orgId, key: 'endpoint', transform }, JSON.stringify(given)))
const failureOf = async (transform: string, orgId?: string): Promise<TransformError> => {
  const error: unknown = await apply(transform, orgId).then(
    (result) => assert.fail(`${transform} has the result ${JSON.stringify(result)}`),
    (failure: unknown) => failure,
  )
  assert.ok(error instanceof TransformError, String(error))
  return error
}

describe('a transform', () => {
  test('has the event as input and its own functions', async () => {
    const result = await apply(
      '( $f := function($c) { { "field": $c } }; { "text": $uppercase(data.name) & " by " & actor.name, "fields": $map(data.changed, $f), "b64": $base64encode("hi") } )',
    )
    const fields = [{ field: 'model' }, { field: 'name' }]
    assert.deepEqual(result, { text: 'SECRET NAME by Ada', fields, b64: 'aGk=' })
  })

  test('has the time of the event as $now and $millis, so that every attempt has the same result', async () => {
    const expected = { now: event.timestamp, ms: Date.parse(event.timestamp), same: true }
    const transform = '{ "now": $now(), "ms": $millis(), "same": $toMillis($now()) = $millis() }'
    assert.deepEqual(await apply(transform), expected)
    assert.deepEqual(await apply(transform), expected)
  })

  test('keeps a text with U+2028, line breaks and emoji', async () => {
    const text = 'a\u2028b\u2029c\r\nd 🎉 ё'
    assert.deepEqual(await apply('{ "t": data.text }', newOrg(), { data: { text } }), { t: text })
  })

  test('can return an event of almost 1.5 MB', async () => {
    const large = { rows: Array.from({ length: 18_000 }, (_, id) => ({ id, value: 'x'.repeat(55) })) }
    assert.deepEqual(await apply('{ "all": $, "n": $count(rows) }', newOrg(), large), { all: large, n: 18_000 })
  })

  test('cannot reach a prototype, a constructor or globals', async () => {
    const result = await apply(
      '{ "p": $exists(data.__proto__), "c": $exists(data.constructor), "s": $exists("x".constructor), "f": $exists($sum.implementation.constructor), "l": $exists($lookup(data, "__proto__")), "g": $exists($process), "v": $exists($globalThis) }',
    )
    assert.deepEqual(result, { p: false, c: false, s: false, f: false, l: false, g: false, v: false })
  })

  test('cannot change a function of the language by its own $clone, neither for itself nor for another org', async () => {
    const attack =
      '( $clone := function($x) { $x }; $sum ~> | $ | { "implementation": $count.implementation } |; { "sum": $sum([1, 2, 3]) } )'
    assert.deepEqual(await apply(attack), { sum: 6 })
    assert.deepEqual(await apply('{ "sum": $sum([1, 2, 3]) }'), { sum: 6 })
  })

  test('that has no object as its result fails with the reason', async () => {
    for (const transform of ['[{"a":1}]', 'data.name', '1', 'null', 'data.nothing']) {
      assert.equal((await failureOf(transform)).shown, 'The result is not an object.')
    }
    assert.equal((await failureOf('{ "f": $sum }')).shown, 'The result contains a function.')
    assert.equal((await failureOf('{ "f": function($x) { $x } }')).shown, 'The result contains a function.')
    assert.equal((await failureOf('{ "big": $pad("", 1600000) }')).shown, 'The result is larger than 1.5 MB.')
  })

  test('shows the place and code of an error, and values of the event only to somebody who knows it', async () => {
    for (const [transform, code] of [
      ['{ "a": $error("it is " & data.name) }', 'D3137'],
      ['{ "a": $number(data.name) }', 'D3030'],
      ['{ "a": $assert(false, data.name) }', 'D3141'],
      ['{ "a": -data.name }', 'D1002'],
    ] as const) {
      const { shown, message } = await failureOf(transform)
      assert.match(shown, new RegExp(`^The transform failed at character \\d+: .*\\(${code}\\)\\.$`))
      assert.match(message, /Secret name/)
      assert.doesNotMatch(shown, /Secret/)
    }
  })
})

describe('a hostile transform', () => {
  const attacks: [what: string, transform: string, shown: RegExp][] = [
    ['an endless loop', '( $f := function($x) { $f($x) }; { "a": $f(1) } )', /limit of 50 ms/],
    ['an endless recursion', '( $f := function($x) { $f($x) + 1 }; { "a": $f(1) } )', /recursion is too deep/],
    ['a huge string', '{ "a": $pad("", 500000000) }', /limit of (32 MB|50 ms)/],
    [
      'a doubled string',
      '{ "a": $reduce([1..40], function($i, $j) { $i & $i }, "xxxxxxxx") }',
      /result of a function is too large/,
    ],
    ['a huge list', '{ "a": [1..9999999] }', /a list is too long/],
    ['a deep list', '( $r := function($n) { $n = 0 ? 1 : [$r($n - 1)] }; { "a": $r(100000) } )', /too deep/],
    [
      'a pattern that takes exponential time',
      `{ "a": $toMillis("${'1'.repeat(120)}x", "[f1][f1][f1][f1][f1][f1][f1][f1]") }`,
      /limit of 50 ms/,
    ],
  ]
  for (const [what, transform, shown] of attacks) {
    test(`with ${what} ends with the reason`, async () => {
      assert.match((await failureOf(transform)).shown, shown)
      assert.deepEqual(await apply('{ "ok": id }'), { ok: 'e1' })
    })
  }

  test('delays the transforms of its own org only', async () => {
    const [bad, good] = [newOrg(), newOrg()]
    const loop = '( $f := function($x) { $f($x) }; { "a": $f(1) } )'
    let ended = 0
    const attack = Array.from({ length: 50 }, () =>
      apply(loop, bad)
        .catch(() => undefined)
        .finally(() => (ended += 1)),
    )
    for (let count = 0; count < 20; count += 1) assert.deepEqual(await apply('{ "ok": id }', good), { ok: 'e1' })
    assert.ok(ended < 25, `${ended} of 50 hostile transforms ended before 20 good ones`)
    assert.ok(transformer.processes() <= 2)
    // Those that wait are postponed after ten seconds.
    await Promise.all(attack)
  })

  test('delays previews of its own person only, neither those of others nor the deliveries of the org', async () => {
    const orgId = newOrg()
    const loop = '( $f := function($x) { $f($x) }; { "a": $f(1) } )'
    let ended = 0
    const attack = Array.from({ length: 20 }, () =>
      transformer
        .apply({ orgId, userId: 'bad', key: 'preview', transform: loop }, '{}')
        .catch(() => undefined)
        .finally(() => (ended += 1)),
    )
    for (let count = 0; count < 5; count += 1) {
      for (const userId of [undefined, 'good']) {
        const answer = await transformer.apply({ orgId, userId, key: 'a', transform: '{ "ok": 1 }' }, '{}')
        assert.equal(answer, '{"ok":1}')
      }
    }
    assert.ok(ended < 10, `${ended} of 20 hostile previews ended before 10 good transforms`)
    await Promise.all(attack)
  })
})

describe('the check of a transform', () => {
  const messageOf = (transform: string): Promise<string> =>
    transformer.check({ orgId: newOrg() }, transform).then(
      () => 'valid',
      (error: unknown) => (error as Error).message,
    )

  test('names the place of a mistake', async () => {
    assert.equal(await messageOf('{ "a": data.name }'), 'valid')
    assert.match(await messageOf('{ "a": }'), /^transform: .*\(character 8\)$/)
    assert.match(await messageOf('{ "a": "x }'), /^transform: .*\(character \d+\)$/)
    assert.match(await messageOf('('.repeat(8_000)), /^transform: /)
  })

  test('rejects regular expressions and functions that differ between attempts or run other code', async () => {
    assert.match(await messageOf('{ "a": $match(data.name, /(a+)+$/) }'), /Regular expressions are not available/)
    assert.match(await messageOf('{ "a": $eval("1") }'), /\$eval is not available/)
    assert.match(await messageOf('{ "a": $map([1], $eval) }'), /\$eval is not available/)
    assert.match(await messageOf('{ "a": $random() }'), /\$random is not available/)
    assert.match(await messageOf('{ "a": $shuffle([1]) }'), /\$shuffle is not available/)
    assert.match((await failureOf('{ "a": $eval("1") }')).shown, /\$eval is not available/)
  })
})

test('processes of transforms start with the first transform and end when they are idle', async () => {
  const own = createTransformer({ idleMs: 50 })
  try {
    assert.equal(own.processes(), 0)
    await own.apply({ orgId: 'o', key: 'k', transform: '{}' }, '{}')
    assert.equal(own.processes(), 1)
    await until('the idle process has ended', () => own.processes() === 0)
    await own.apply({ orgId: 'o', key: 'k', transform: '{}' }, '{}')
  } finally {
    await own.close()
  }
  assert.equal(own.processes(), 0)
})
