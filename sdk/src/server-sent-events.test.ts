import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readServerSentEvents } from './index.ts'
import type { ServerSentEvent } from './index.ts'

const bodyOf = (bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      let from = 0
      for (const size of sizes) {
        controller.enqueue(bytes.slice(from, from + size))
        from += size
      }
      controller.enqueue(bytes.slice(from))
      controller.close()
    },
  })

const parse = async (text: string, sizes: readonly number[] = []): Promise<ServerSentEvent[]> => {
  const events: ServerSentEvent[] = []
  for await (const event of readServerSentEvents(bodyOf(new TextEncoder().encode(text), sizes))) events.push(event)
  return events
}

test('events have the last ID, a name, joined data lines and the retry delay', async () => {
  const text = [
    ': comment\nretry: 1500\nid: 7\nevent: open\ndata: {}\n\n',
    'data:first\ndata: second\ndata\n\n',
    'id: with\0NUL\nretry: soon\nunknown: x\ndata:  two spaces\n\n',
    'id: 8\n\n',
    'data: dropped, because its end is missing\n',
  ].join('')
  const [first, second, third, ...rest] = await parse(text)
  assert.deepEqual(first, { lastId: '7', id: '7', name: 'open', data: '{}', retryMs: 1_500 })
  assert.deepEqual(second, { lastId: '7', id: undefined, name: 'message', data: 'first\nsecond\n', retryMs: 1_500 })
  assert.deepEqual(third, { lastId: '7', id: undefined, name: 'message', data: ' two spaces', retryMs: 1_500 })
  assert.deepEqual(rest, [])
})

test('the result does not depend on line ends, nor on where the bytes are split', async () => {
  const lines = ['id: 1', 'data: Überraschung 🎉', 'data: zwei', '', ': ping', '', 'event: end', 'data: {}', '', '']
  const expected = await parse(lines.join('\n'))
  assert.equal(expected.length, 2)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 }),
      async (lineEnd, sizes) => assert.deepEqual(await parse(lines.join(lineEnd), sizes), expected),
    ),
    { numRuns: 300 },
  )
})

test('the connection is closed when the caller stops reading', async () => {
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\ndata: 2\n\n')),
    cancel: () => {
      isCancelled = true
    },
  })
  for await (const { data } of readServerSentEvents(body)) {
    assert.equal(data, '1')
    break
  }
  assert.equal(isCancelled, true)
})
