import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startTestApp } from '../../test/harness.ts'
import { createAgent, openSession } from '../../test/support/chat.ts'
import { until } from '../../test/support/until.ts'
import type { StreamPart } from '../../src/sessions/streams/stream-parts.ts'
import {
  createClient,
  isAtriumError,
  readServerSentEvents,
  streamEvents,
  streamReply,
  streamTurn,
  textOf,
  waitForTurn,
} from './index.ts'
import type { ClientOptions, EventStreamOptions, Fetch, TurnEvent, TurnPart } from './index.ts'

const app = await startTestApp({ RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0', RATE_LIMIT_TURNS: '0' })
const owner = await app.createOrg()
const clientOf = (options: ClientOptions = {}) => createClient({ baseUrl: app.url, apiKey: owner.key, ...options })
const client = clientOf()

/** A response that fails after this many server-sent events and half of one, as when the connection is lost. */
const cutAfter = (response: Response, count: number): Response => {
  const events = readServerSentEvents(response.body!)
  const encoder = new TextEncoder()
  let left = count
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (left < 0) {
          await events.return()
          controller.error(new TypeError('terminated'))
          return
        }
        left -= 1
        if (left < 0) return controller.enqueue(encoder.encode('id: 999\ndata: {"type":"text-de'))
        const { value, done } = await events.next()
        if (done) return controller.close()
        const { id, name, data } = value
        const lines = [...(id === undefined ? [] : [`id: ${id}`]), `event: ${name}`, `data: ${data}`]
        controller.enqueue(encoder.encode(`${lines.join('\n')}\n\n`))
      },
      cancel: async () => void (await events.return()),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}

/** A fetch that cuts every stream after `count` events, and records the streams. */
const cutting = (count: number, times: number) => {
  const streams: { method: string; url: URL; headers: Headers }[] = []
  const cut: Fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) return response
    streams.push({ method: init.method ?? 'GET', url: new URL(input), headers: new Headers(init.headers) })
    return streams.length <= times ? cutAfter(response, count) : response
  }
  return { streams, fetch: cut }
}

let made = 0
const makeAgent = async (): Promise<string> => {
  made += 1
  return (await client.call('POST /agents', { body: { name: `Agent ${made}` } })).id
}

/** Collects the subjects of events until there are `count`. */
const collect = async (count: number, options: EventStreamOptions, as = client): Promise<string[]> => {
  const subjects: string[] = []
  for await (const { subject } of streamEvents(as, { types: ['agent.created'], ...options })) {
    subjects.push(subject.id)
    if (subjects.length === count) break
  }
  return subjects
}

describe('streamEvents', () => {
  test('yields events as they happen, after it has reported where it begins', async () => {
    const opened = Promise.withResolvers<number>()
    const collected = collect(2, { onOpen: ({ position, isGap }) => opened.resolve(isGap ? -1 : position) })
    assert.ok((await opened.promise) >= 0)
    const ids = [await makeAgent(), await makeAgent()]
    assert.deepEqual(await collected, ids)
  })

  test('continues after a position without a gap and without a repetition when connections are lost', async () => {
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1) ids.push(await makeAgent())
    const { items } = await client.call('GET /events', { query: { subjectId: ids[0], types: 'agent.created' } })
    const { streams, fetch } = cutting(3, 2)
    const delays: number[] = []
    const found = await collect(
      6,
      {
        after: (items[0]?.position ?? 0) - 1,
        onReconnect: (delayMs, error) => delays.push(error?.code === 'NETWORK' ? delayMs : -1),
      },
      clientOf({ fetch }),
    )
    assert.deepEqual(found, ids)
    assert.equal(streams.length, 3)
    const lastIds = streams.map(({ headers }) => Number(headers.get('last-event-id')))
    assert.deepEqual(
      lastIds,
      lastIds.toSorted((a, b) => a - b),
    )
    assert.equal(delays.length, 2)
    assert.ok(
      delays.every((delayMs) => delayMs >= 250 && delayMs <= 1_000),
      String(delays),
    )
  })

  test('reconnects after the delay that a stopping server asks for', async () => {
    const stopping = await app.secondServer()
    let server = stopping.url
    let hasStopped: (() => void) | undefined
    const opened = new Promise<void>((resolve) => {
      hasStopped = resolve
    })
    const following: Fetch = (input, init) => fetch(input.replace(app.url, server), init)
    const reconnects: [number, string | undefined][] = []
    const collected = collect(
      1,
      {
        onOpen: () => hasStopped?.(),
        onReconnect: (delayMs, error) => reconnects.push([delayMs, error?.code]),
      },
      clientOf({ fetch: following }),
    )
    await opened
    server = app.url
    await stopping.app.close()
    const id = await makeAgent()
    assert.deepEqual(await collected, [id])
    const [[delayMs, code] = [0, '']] = reconnects
    assert.ok(delayMs >= 1_000 && delayMs <= 3_000, `${delayMs} ms`)
    assert.equal(code, undefined)
  })

  test('ends with the error of the server when the first connection is rejected, or the key is revoked', async () => {
    await assert.rejects(collect(1, {}, clientOf({ apiKey: 'atr_test_wrong' })), { code: 'UNAUTHORIZED' })
    const reader = await app.createUser(owner)
    const opened = Promise.withResolvers<void>()
    const collected = collect(1, { onOpen: () => opened.resolve() }, clientOf({ apiKey: reader.key }))
    const outcome = assert.rejects(collected, { code: 'UNAUTHORIZED', status: 401 })
    await opened.promise
    const headers = await app.stepUp(owner)
    await client.call('DELETE /api-keys/:id', { params: { id: reader.apiKeyId }, headers })
    await outcome
  })

  test('considers a silent connection lost, and reconnects', async () => {
    let connections = 0
    const hanging: Fetch = async (input, init) => {
      connections += 1
      if (connections > 1) return fetch(input, init)
      const body = new ReadableStream({
        start: (controller) => init.signal?.addEventListener('abort', () => controller.error(init.signal?.reason)),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const codes: (string | undefined)[] = []
    const after = (await client.call('GET /events', { query: { order: 'desc', limit: 1 } })).items[0]?.position
    const id = await makeAgent()
    const options = {
      after,
      silenceMs: 5_000,
      onReconnect: (_: number, error?: { code: string }) => codes.push(error?.code),
    }
    assert.deepEqual(await collect(1, options, clientOf({ fetch: hanging })), [id])
    assert.deepEqual(codes, ['TIMEOUT'])
  })

  test('rejects with the abort reason and closes its connection', async () => {
    const abort = new AbortController()
    let signal: AbortSignal | undefined
    const watching: Fetch = (input, init) => {
      signal = init.signal ?? undefined
      return fetch(input, init)
    }
    const collected = collect(
      1,
      { signal: abort.signal, onOpen: () => abort.abort(new Error('enough')) },
      clientOf({ fetch: watching }),
    )
    await assert.rejects(collected, /enough/)
    assert.equal(signal?.aborted, true)
  })
})

const openChat = async (): Promise<string> => (await openSession(app, owner)).id

const read = async (events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> => {
  const all: TurnEvent[] = []
  for await (const event of events) all.push(event)
  return all
}
const textIn = (events: TurnEvent[]): string =>
  events.flatMap(({ part }) => (part.type === 'text-delta' ? [part.delta] : [])).join('')

describe('a stream of a turn', () => {
  test('has all parts in order, and the same text as the stored reply', async () => {
    const sessionId = await openChat()
    const events = await read(streamReply(client, sessionId, { text: 'Hello' }))
    assert.deepEqual(
      events.map(({ number }) => number),
      events.map((_, i) => i + 1),
    )
    const [first, last] = [events[0]?.part, events.at(-1)?.part]
    assert.ok(first?.type === 'start' && last?.type === 'finish')
    assert.equal(last.messageMetadata.status, 'completed')
    const { items } = await client.call('GET /sessions/:id/messages', { params: { id: sessionId } })
    const reply = items.find(({ role }) => role === 'assistant')
    assert.ok(reply)
    assert.equal(textIn(events), textOf(reply))
    assert.equal(first.messageMetadata.turnId, reply.turnId)
  })

  test('continues without a gap and without a repetition when connections are lost', async () => {
    const sessionId = await openChat()
    const { streams, fetch } = cutting(5, 3)
    const events = await read(streamReply(clientOf({ fetch }), sessionId, { text: 'Hello again' }))
    const turnId = events[0]?.turnId ?? ''
    assert.deepEqual(events, await read(streamTurn(client, turnId)))
    assert.deepEqual(
      streams.map(({ method, url }) => [method, url.searchParams.get('after')]),
      [
        ['POST', null],
        ['GET', '5'],
        ['GET', '10'],
        ['GET', '15'],
      ],
    )
    const [{ number } = { number: 0 }] = await read(streamTurn(client, turnId, { after: events.length - 1 }))
    assert.equal(number, events.length)
    assert.deepEqual(await read(streamTurn(client, turnId, { after: events.length })), [])
  })

  test('keeps its connection while the caller takes longer than silenceMs to handle a part', async () => {
    let connections = 0
    const play: Fetch = async (_url, { signal }) => {
      connections += 1
      const events = [
        'id: 1\ndata: {"type":"start-step"}\n\n',
        'id: 2\ndata: {"type":"finish-step"}\n\n',
        'data: [DONE]\n\n',
      ]
      const body = new ReadableStream<Uint8Array>(
        {
          start: (controller) => signal?.addEventListener('abort', () => controller.error(signal.reason)),
          pull: (controller) => controller.enqueue(new TextEncoder().encode(events.shift())),
        },
        { highWaterMark: 0 },
      )
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const numbers: number[] = []
    for await (const { number } of streamTurn(clientOf({ fetch: play }), 'a turn', { silenceMs: 100 })) {
      numbers.push(number)
      await delay(400)
    }
    assert.deepEqual([numbers, connections], [[1, 2], 1])
  })

  test('sends the message once when the connection is lost before the first part', async () => {
    const sessionId = await openChat()
    for (const lose of [
      // The response never arrives.
      async () => Promise.reject(new TypeError('fetch failed')),
      // It ends before its first event.
      async (response: Response) => cutAfter(response, 0),
    ]) {
      let posts = 0
      const lossy: Fetch = async (input, init) => {
        const response = await fetch(input, init)
        if (init.method !== 'POST') return response
        posts += 1
        return posts === 1 ? lose(response) : response
      }
      const events = await read(streamReply(clientOf({ fetch: lossy }), sessionId, { text: 'Only once' }))
      assert.equal(posts, 2)
      assert.deepEqual([events[0]?.part.type, events.at(-1)?.part.type], ['start', 'finish'])
    }
    const { items } = await client.call('GET /sessions/:id/messages', { params: { id: sessionId } })
    assert.deepEqual(items.map(({ role }) => role).toSorted(), ['assistant', 'assistant', 'user', 'user'])
  })

  test('ends with the error of the server when the message is rejected', async () => {
    const sessionId = await openChat()
    await assert.rejects(read(streamReply(client, sessionId, { text: '' })), { code: 'BAD_REQUEST' })
    await assert.rejects(read(streamTurn(client, '01900000-0000-7000-8000-000000000000')), { code: 'NOT_FOUND' })
  })

  test('has the type of the parts that the server sends', () => {
    const fromServer = (part: Exclude<StreamPart, { type: 'finish' | 'tool-approval-request' }>): TurnPart => part
    const fromClient = (part: TurnPart['type']): StreamPart['type'] => part
    assert.deepEqual([typeof fromServer, typeof fromClient], ['function', 'function'])
  })
})

describe('waitForTurn', () => {
  test('resolves with the turn when it has ended', async () => {
    const { turn } = await client.call('POST /sessions/:id/messages', {
      params: { id: await openChat() },
      body: { text: '/slow 600', background: true },
    })
    assert.notEqual(turn.status, 'completed')
    assert.equal((await waitForTurn(client, turn.id)).status, 'completed')
  })

  test('resolves when the turn waits for an action', async () => {
    const agent = await createAgent(app, owner, {
      name: 'Careful',
      allowedTools: ['files.write'],
      settings: { approvals: ['files.write'] },
    })
    const { id } = await openSession(app, owner, { agentId: agent.id })
    const text = '/tool files.write {"name":"a.txt","text":"x"}'
    const body = { text, background: true }
    const { turn } = await client.call('POST /sessions/:id/messages', { params: { id }, body })
    const waiting = await waitForTurn(client, turn.id)
    assert.deepEqual([waiting.status, waiting.approvals.length], ['requires_action', 1])
    const events = await read(streamTurn(client, turn.id))
    const request = events.find(({ part }) => part.type === 'tool-approval-request')?.part
    assert.ok(request?.type === 'tool-approval-request')
    const params = { id: turn.id }
    await client.call('POST /turns/:id/approvals', { params, body: { approvalId: request.approvalId, approved: true } })
    const rest = await read(streamTurn(client, turn.id, { after: events.at(-1)?.number }))
    assert.equal(rest.at(-1)?.part.type, 'finish')
    assert.equal((await waitForTurn(client, turn.id)).status, 'completed')
  })

  test('rejects with TIMEOUT and with the abort reason, and the turn continues', async () => {
    const { turn } = await client.call('POST /sessions/:id/messages', {
      params: { id: await openChat() },
      body: { text: '/slow 60000', background: true },
    })
    await until(
      'the turn runs',
      async () => (await client.call('GET /turns/:id', { params: { id: turn.id } })).status === 'running',
    )
    await assert.rejects(waitForTurn(client, turn.id, { timeoutMs: 10 }), (error) => {
      assert.ok(isAtriumError(error))
      return error.code === 'TIMEOUT'
    })
    const signal = AbortSignal.timeout(10)
    await assert.rejects(waitForTurn(client, turn.id, { signal }), { name: 'TimeoutError' })
    await client.call('POST /turns/:id/cancel', { params: { id: turn.id } })
    assert.equal((await waitForTurn(client, turn.id)).status, 'cancelled')
  })
})
