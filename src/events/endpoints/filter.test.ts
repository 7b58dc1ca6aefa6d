import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { EventRow } from '../../outbox/publisher.ts'
import { planDeliveries } from './dispatch.ts'
import { operators, parseFilter, passes } from './filter.ts'
import type { Filter, FilteredEvent } from './filter.ts'
import type { ReceivingEndpoint } from './queries.ts'

const event: FilteredEvent = {
  type: 'file.created',
  subject: { type: 'file', id: '1' },
  actor: { type: 'user', id: 'u', name: 'Ada', apiKeyId: null },
  data: {
    name: 'report.pdf',
    mimeType: 'application/pdf',
    size: 12,
    isShared: false,
    folderId: null,
    changed: ['name', 'size'],
    deep: { x: { y: 'z' } },
  },
}
const holds = (filter: unknown): boolean => passes(parseFilter(filter), event)
const rejection = (filter: unknown): string => {
  try {
    parseFilter(filter)
  } catch (error) {
    return (error as Error).message
  }
  return assert.fail(`accepted ${JSON.stringify(filter)}`)
}

describe('passes', () => {
  for (const [filter, expected] of [
    [{ path: 'data.mimeType', equals: 'application/pdf' }, true],
    [{ path: 'data.mimeType', equals: 'application/PDF' }, false],
    [{ path: 'data.isShared', equals: false }, true],
    [{ path: 'data.folderId', equals: null }, true],
    [{ path: 'data.size', equals: '12' }, false],
    [{ path: 'data.missing', equals: null }, false],
    [{ path: 'data.name', in: ['a', 'report.pdf'] }, true],
    [{ path: 'data.name', in: ['a'] }, false],
    [{ path: 'data.folderId', exists: true }, true],
    [{ path: 'data.missing', exists: true }, false],
    [{ path: 'data.missing', exists: false }, true],
    [{ path: 'data.size', gt: 12 }, false],
    [{ path: 'data.size', gte: 12 }, true],
    [{ path: 'data.size', lt: 12.5 }, true],
    [{ path: 'data.size', lte: 11 }, false],
    [{ path: 'data.name', gt: 'report' }, true],
    [{ path: 'data.name', gt: 5 }, false],
    [{ path: 'data.mimeType', prefix: 'application/' }, true],
    [{ path: 'data.size', prefix: '1' }, false],
    [{ path: 'data.changed', equals: 'size' }, true],
    [{ path: 'data.changed', equals: 'type' }, false],
    [{ path: 'data.deep.x.y', equals: 'z' }, true],
    [{ path: 'type', prefix: 'file.' }, true],
    [{ path: 'subject.id', equals: '1' }, true],
    [{ path: 'actor.apiKeyId', equals: null }, true],
    [
      {
        all: [
          { path: 'data.size', gt: 1 },
          { path: 'type', equals: 'file.created' },
        ],
      },
      true,
    ],
    [
      {
        all: [
          { path: 'data.size', gt: 1 },
          { path: 'type', equals: 'file.moved' },
        ],
      },
      false,
    ],
    [
      {
        any: [
          { path: 'data.size', gt: 99 },
          { path: 'type', equals: 'file.created' },
        ],
      },
      true,
    ],
    [{ not: { path: 'data.size', gt: 99 } }, true],
  ] as [object, boolean][]) {
    test(`${JSON.stringify(filter)} is ${expected} for the event of a PDF`, () => {
      assert.equal(holds(filter), expected)
    })
  }

  test('reads no property that an event does not have itself', () => {
    for (const path of ['data.constructor', 'data.__proto__', 'data.toString', 'data.changed.length', 'type.length']) {
      assert.equal(holds({ path, exists: true }), false, path)
    }
  })
})

describe('parseFilter', () => {
  for (const [filter, message] of [
    [null, /^filter must be an object$/],
    [[], /^filter must be an object$/],
    [{}, /^filter must have exactly one of all, any, not and path$/],
    [{ all: [] }, /^filter\.all must be a list of conditions$/],
    [{ all: [{ path: 'data.a', equals: 1 }], any: [] }, /^filter must have exactly one of/],
    [
      {
        all: [
          { path: 'data.a', equals: 1 },
          { path: 'secret', equals: 1 },
        ],
      },
      /^filter\.all\[1\]\.path must begin with/,
    ],
    [{ not: { any: [{ path: 'data.a', equals: {} }] } }, /^filter\.not\.any\[0\]\.equals must be a string/],
    [{ path: 'data.a' }, /^filter must have path and exactly one of equals, in/],
    [{ path: 'data.a', equals: 1, gt: 2 }, /^filter must have path and exactly one of/],
    [{ path: 'data.a', matches: '.*' }, /^filter must have path and exactly one of/],
    [{ path: 'data..a', equals: 1 }, /^filter\.path must not have an empty name/],
    [{ path: 7, equals: 1 }, /^filter\.path must be a string/],
    [{ path: 'data.a', in: [] }, /^filter\.in must be a list/],
    [{ path: 'data.a', in: [[1]] }, /^filter\.in must be a list/],
    [{ path: 'data.a', gt: true }, /^filter\.gt must be a number or a string$/],
    [{ path: 'data.a', exists: 'yes' }, /^filter\.exists must be true or false$/],
    [{ path: 'data.a', prefix: '' }, /^filter\.prefix must be a string that is not empty$/],
    [{ not: { path: 'data.a', exists: true }, more: 1 }, /^filter must have nothing beside not$/],
    [{ path: 'data.a', equals: 'x'.repeat(4_096) }, /^filter must be at most 4096 bytes/],
    [
      { any: Array.from({ length: 51 }, () => ({ path: 'data.a', gt: 1 })) },
      /^filter must have at most 50 conditions$/,
    ],
    [{ not: { not: { not: { not: { not: { path: 'data.a', gt: 1 } } } } } }, /is nested more than 5 levels deep$/],
  ] as [unknown, RegExp][]) {
    test(`rejects ${JSON.stringify(filter).slice(0, 70)} and names the mistake`, () => {
      assert.match(rejection(filter), message)
    })
  }

  test('accepts 50 conditions and 5 levels', () => {
    parseFilter({ any: Array.from({ length: 50 }, () => ({ path: 'data.a', gt: 1 })) })
    parseFilter({ not: { not: { not: { not: { path: 'data.a', gt: 1 } } } } })
  })
})

const leaf = fc.record({
  path: fc.constantFrom('data.name', 'data.size', 'data.changed', 'data.missing', 'type', 'subject.id', 'actor.id'),
  operator: fc.constantFrom(...operators),
  text: fc.constantFrom('report.pdf', 'name', '1', 'file.created'),
  number: fc.integer({ min: -20, max: 20 }),
})
const { tree } = fc.letrec<{ tree: Filter }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'filter' },
    leaf.map(({ path, operator, text, number }) => ({
      path,
      [operator]:
        { exists: number > 0, in: [text, number], prefix: text }[operator as string] ?? (number > 0 ? text : number),
    })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3, depthIdentifier: 'filter' }).map((all) => ({ all })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3, depthIdentifier: 'filter' }).map((any) => ({ any })),
    tie('tree').map((not) => ({ not })),
  ),
}))
const isValid = (filter: unknown): boolean => {
  try {
    parseFilter(filter)
    return true
  } catch {
    return false
  }
}

describe('any valid filter', () => {
  test('is the opposite of its negation, and equal to itself in all and in any', () => {
    fc.assert(
      fc.property(tree.filter(isValid), (filter) => {
        const expected = passes(filter, event)
        assert.equal(passes({ not: filter }, event), !expected)
        assert.equal(passes({ all: [filter] }, event), expected)
        assert.equal(passes({ any: [filter, filter] }, event), expected)
      }),
    )
  })

  test('satisfies the laws of De Morgan', () => {
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), (filters) => {
        assert.equal(passes({ not: { all: filters } }, event), passes({ any: filters.map((not) => ({ not })) }, event))
      }),
    )
  })

  test('is tested without an error on events with any data', () => {
    fc.assert(
      fc.property(tree, fc.dictionary(fc.string(), fc.jsonValue()), (filter, data) => {
        assert.equal(typeof passes(filter, { ...event, data }), 'boolean')
      }),
    )
  })
})

test('any JSON value is either a filter or rejected with a message that begins with its path', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      try {
        parseFilter(value)
      } catch (error) {
        assert.match((error as Error).message, /^filter/)
      }
    }),
  )
})

test('events are matched with thousands of endpoints in many turns of the event loop', async () => {
  const endpoints = Array.from({ length: 5_000 }, (_, n) => ({ id: String(n), ordering: 'none' }) as ReceivingEndpoint)
  const events = ['a', 'b'].map((id) => ({ id, type: 'agent.created' }) as EventRow)
  let turns = 0
  let counting = setImmediate(function count() {
    turns += 1
    counting = setImmediate(count)
  })
  const planned = await planDeliveries(endpoints, events, ({ id }) => Number(id) % 2 === 0)
  clearImmediate(counting)
  assert.deepEqual([planned.length, planned.at(-1)?.endpointId, planned.at(-1)?.eventId], [5_000, '4998', 'b'])
  assert.ok(turns >= 40, `${turns} turns`)
})
