import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import {
  createAgent,
  streamEventsOf,
  getTurn,
  openSession,
  say,
  sayWithHeaders,
  textOf,
  until,
  untilStatus,
} from '../../../test/support/chat.ts'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { timed } from '../../../test/support/stopwatch.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
/** Does not work on turns: they run in the process of `app`. */
const frontOnly = await app.secondServer(fake.env, { work: false })

const stream = { accept: 'text/event-stream' }

const begin = async (as: TestActor, sessionId: string, text: string): Promise<string> => {
  const { status, body } = await say(app, as, sessionId, { text, background: true })
  assert.equal(status, 202)
  return body.data.turn.id
}

/** A turn in a new session whose model call is in progress until `release`. */
const beginHeld = async (as: TestActor) => {
  await createAgent(app, as, { name: 'Slow', model: 'fake/m1' })
  const session = await openSession(app, as, { agentId: 'slow' })
  const { script, asked, release } = held(reply(['Hello ', 'yourself.']))
  fake.play(script)
  const turnId = await begin(as, session.id, 'Hello')
  await asked
  return { session, turnId, release }
}

/** Opens a stream. Resolves when the response headers arrive. */
const openStream = (server: TestApp, as: TestActor, path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers: { authorization: `Bearer ${as.key}`, ...headers } })

const wordsOf = (chunks: { type: string; delta?: string }[]): string =>
  chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('')

describe('a streamed response', () => {
  for (const [where, server] of [
    ['the process that runs the turn', app],
    ['another process', frontOnly],
  ] as const) {
    test(`sends the numbered parts of the UI message stream from start to [DONE] from ${where}`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      const { status, headers, text } = await sayWithHeaders(server, owner, session.id, {
        json: { text: 'Hello' },
        headers: stream,
      })
      assert.equal(status, 200)
      assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
      assert.equal(headers.get('x-vercel-ai-ui-message-stream'), 'v1')
      assert.equal(headers.get('x-accel-buffering'), 'no')
      assert.match(headers.get('cache-control') ?? '', /no-cache/)
      assert.ok(headers.get('x-request-id'))
      const { events, isDone } = streamEventsOf(text)
      assert.ok(isDone)
      assert.deepEqual(
        events.map(({ id }) => id),
        events.map((_, i) => i + 1),
      )
      const [start, ...rest] = events.map(({ data }) => data)
      const { turnId } = start.messageMetadata
      const turn = await getTurn(app, owner, turnId)
      assert.deepEqual(start, {
        type: 'start',
        messageId: turn.replyId,
        messageMetadata: { turnId, sessionId: session.id },
      })
      assert.equal(rest[0].type, 'start-step')
      assert.ok(rest.filter(({ type }) => type === 'text-delta').length > 5, 'in small pieces')
      assert.deepEqual(
        rest.slice(-2).map(({ type }) => type),
        ['finish-step', 'finish'],
      )
      const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
      assert.equal(wordsOf(rest), textOf(body.data.items[0]))
    })
  }

  test('streams tool calls, their results and their errors', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const commands = `/tool files.search {"query":"x"}\n/tool files.read {"fileId":"${newId()}"}\n/tool no.such.tool {}`
    const { events } = streamEventsOf(
      (await sayWithHeaders(app, owner, session.id, { json: { text: commands }, headers: stream })).text,
    )
    const seen = events.map(({ data }) => data).filter(({ type }) => type.startsWith('tool-'))
    const of = (type: string) => seen.filter((frame) => frame.type === type)
    assert.deepEqual(
      of('tool-input-start').map(({ toolName }) => toolName),
      ['files.search', 'files.read', 'no.such.tool'],
    )
    assert.equal(of('tool-input-available').length, 3)
    assert.deepEqual(
      of('tool-output-available').map(({ output }) => output.files),
      [[]],
    )
    assert.equal(of('tool-output-error').length, 2)
    assert.ok(of('tool-output-error').some(({ errorText }) => errorText === 'File not found'))
    assert.equal(new Set(of('tool-input-available').map(({ toolCallId }) => toolCallId)).size, 3)
  })

  test('sends the failure of a turn as an error part in the stream', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { status, text } = await sayWithHeaders(app, owner, session.id, {
      json: { text: '/fail 500' },
      headers: stream,
    })
    const { events, isDone } = streamEventsOf(text)
    assert.deepEqual([status, isDone], [200, true])
    const types = events.map(({ data }) => data.type)
    assert.deepEqual(types, ['start', 'start-step', 'reset-step', 'reset-step', 'finish-step', 'error', 'finish'])
  })

  test('rejects a request for a stream with the JSON error envelope', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { status, body } = await sayWithHeaders(app, owner, session.id, { json: { text: '' }, headers: stream })
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
  })

  test('continues the turn when a streaming client disconnects', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Slow', model: 'fake/m1' })
    const session = await openSession(app, owner, { agentId: 'slow' })
    const { script, release } = held(reply(['Hello.']))
    fake.play(script)
    const leaving = new AbortController()
    const response = await fetch(`${app.url}/api/v1/sessions/${session.id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json', ...stream },
      body: JSON.stringify({ text: 'Hello' }),
      signal: leaving.signal,
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = Buffer.from((await reader.read()).value ?? []).toString()
    leaving.abort()
    await assert.rejects(reader.read())
    release()
    const [, turnId] = /"turnId":"([^"]+)"/.exec(first) ?? []
    const turn = await untilStatus(app, owner, turnId as string, 'completed')
    assert.equal(turn.attempts, 1)
  })

  test('continues the turn when a client that waits for JSON disconnects', async () => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Slow', model: 'fake/m1' })
    const session = await openSession(app, owner, { agentId: 'slow' })
    const { script, asked, release } = held(reply(['Hello.']))
    fake.play(script)
    const leaving = new AbortController()
    const response = fetch(`${app.url}/api/v1/sessions/${session.id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Hello' }),
      signal: leaving.signal,
    })
    await asked
    leaving.abort()
    await assert.rejects(response)
    const { activeTurnId } = (await app.call('GET', `/api/v1/sessions/${session.id}`, { as: owner })).body.data
    release()
    assert.equal((await untilStatus(app, owner, activeTurnId, 'completed')).attempts, 1)
  })
})

describe('resuming a stream', () => {
  test('returns the rest of a stream byte for byte after any of its parts', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const whole = (
      await sayWithHeaders(app, owner, session.id, {
        json: { text: '/tool files.search {"query":""}' },
        headers: stream,
      })
    ).text
    const { events } = streamEventsOf(whole)
    const turnId = events[0]?.data.messageMetadata.turnId as string
    const blocks = whole.split(/(?<=\n\n)/)
    for (let seen = 0; seen < events.length; seen++) {
      const server = seen % 2 === 0 ? app : frontOnly
      const query = seen % 3 === 0 ? '' : `?after=${seen}`
      const headers: Record<string, string> = seen % 3 === 0 ? { 'last-event-id': String(seen) } : {}
      const { status, text } = await server.call('GET', `/api/v1/turns/${turnId}/stream${query}`, {
        as: owner,
        headers,
      })
      assert.equal(status, 200)
      assert.equal(text, blocks.slice(seen).join(''))
    }
  })

  test('resumes the stream of a running turn without gaps or repetitions', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const turnId = await begin(owner, session.id, '/slow 1500\nHello')
    const readers = await Promise.all(
      [0, 1, 5, 3].map(async (after, i) => {
        await until(
          () =>
            app.db.row<{ seq: number }>(sql`
            select max(seq) as seq from turn_events where org_id = ${owner.orgId} and turn_id = ${turnId}`),
          (row) => (row?.seq ?? 0) >= after,
        )
        const server = i % 2 === 0 ? app : frontOnly
        const { text } = await server.call('GET', `/api/v1/turns/${turnId}/stream?after=${after}`, { as: owner })
        return { after, ...streamEventsOf(text) }
      }),
    )
    const whole = streamEventsOf((await app.call('GET', `/api/v1/turns/${turnId}/stream`, { as: owner })).text).events
    for (const { after, events, isDone } of readers) {
      assert.ok(isDone)
      assert.deepEqual(events, whole.slice(after))
    }
  })

  test('returns 204 when the turn has ended and no part follows or its stream has expired', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const { events } = streamEventsOf(
      (await sayWithHeaders(app, owner, session.id, { json: { text: 'Hello' }, headers: stream })).text,
    )
    const path = `/api/v1/turns/${events[0]?.data.messageMetadata.turnId}/stream`
    const over = await app.call('GET', `${path}?after=${events.length}`, { as: owner })
    assert.deepEqual([over.status, over.text], [204, ''])
    await app.db.execute(sql`
      update turn_events set created_at = now() - interval '25 hours' where org_id = ${owner.orgId}`)
    const { expireEvents } = await import('./queries.ts')
    assert.ok((await expireEvents(app.db, 1_000)) > 0)
    assert.equal((await app.call('GET', path, { as: owner })).status, 204)
  })

  test('rejects an ?after that is not a number', async () => {
    const owner = await app.createOrg()
    for (const after of ['x', '-1', '1.5']) {
      const { status } = await app.call('GET', `/api/v1/turns/${newId()}/stream?after=${after}`, { as: owner })
      assert.equal(status, 400)
    }
  })

  test('streams the active turn of a session, and returns 204 when there is none', async () => {
    const owner = await app.createOrg()
    const idle = await openSession(app, owner)
    assert.equal((await app.call('GET', `/api/v1/sessions/${idle.id}/stream`, { as: owner })).status, 204)
    const { session, turnId, release } = await beginHeld(owner)
    const open = await openStream(app, owner, `/api/v1/sessions/${session.id}/stream`)
    release()
    const { events, isDone } = streamEventsOf(await open.text())
    assert.ok(isDone)
    assert.equal(events[0]?.data.messageMetadata.turnId, turnId)
  })

  test('names the turn in the event ids of a session’s stream, so that the next turn is read from its start', async () => {
    const owner = await app.createOrg()
    const { session, turnId: first, release } = await beginHeld(owner)
    const open = (query: string, lastEventId?: string): Promise<Response> => {
      const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
      return openStream(app, owner, `/api/v1/sessions/${session.id}/stream${query}`, headers)
    }
    const idsOf = async (response: Response, turnId: string): Promise<number[]> => {
      const text = await response.text()
      assert.match(text, new RegExp(`^id: ${turnId}:\\d+\n`))
      return streamEventsOf(text).events.map(({ id }) => id)
    }
    const whole = await open('')
    release()
    assert.deepEqual((await idsOf(whole, first)).slice(0, 2), [1, 2])
    const next = held(reply(['Hello ', 'again.']))
    fake.play(next.script)
    const second = await begin(owner, session.id, 'Hello')
    await next.asked
    // All responses have started before the turn continues, so none of them finds an ended turn.
    const streams = await Promise.all([
      open('', `${first}:9`),
      open('?after=3', `${first}:9`),
      open('', `${second}:2`),
      open('?after=1', `${second}:2`),
      open('', '2'),
    ])
    next.release()
    const reads = await Promise.all(streams.map((stream) => idsOf(stream, second)))
    assert.deepEqual(
      reads.map(([id]) => id),
      [1, 1, 3, 3, 3],
    )
  })

  test('resumes after the larger of ?after and Last-Event-ID, because an EventSource keeps its first URL', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const turnId = await begin(owner, session.id, 'Hello')
    await untilStatus(app, owner, turnId, 'completed')
    for (const [after, lastEventId] of [
      [3, '6'],
      [6, '3'],
      [3, `${turnId}:6`],
    ]) {
      const path = `/api/v1/turns/${turnId}/stream?after=${after}`
      const { text } = await app.call('GET', path, { as: owner, headers: { 'last-event-id': String(lastEventId) } })
      assert.equal(streamEventsOf(text).events[0]?.id, 7)
    }
  })

  test('ends a stream that opens while the server stops, and the turn continues', async () => {
    const owner = await app.createOrg()
    const { turnId, release } = await beginHeld(owner)
    const stopping = await app.secondServer(fake.env, { work: false })
    const [locked, unlock] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const reading = app.db.transaction('all orgs', async (db) => {
      await db.execute(sql`lock table turns in access exclusive mode`)
      locked.resolve()
      await unlock.promise
    })
    await locked.promise
    const received = once(stopping.app.server, 'request')
    const opening = openStream(stopping, owner, `/api/v1/turns/${turnId}/stream`)
    await received
    const closing = stopping.app.close()
    if (!stopping.app.stopping.aborted) await once(stopping.app.stopping, 'abort')
    unlock.resolve()
    await reading
    const opened = await opening
    assert.equal(opened.status, 200)
    assert.doesNotMatch(await opened.text(), /DONE/)
    await closing
    assert.equal((await getTurn(app, owner, turnId)).status, 'running')
    release()
  })

  test('ends every open stream of a cancelled turn with an abort part', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const turnId = await begin(owner, session.id, '/slow 60000\nHello')
    const open = [app, frontOnly].map((server) => server.call('GET', `/api/v1/turns/${turnId}/stream`, { as: owner }))
    await untilStatus(app, owner, turnId, 'running')
    const tookMs = await timed(app.db, async () => {
      await frontOnly.call('POST', `/api/v1/turns/${turnId}/cancel`, { as: owner })
      for (const { text } of await Promise.all(open)) {
        const { events, isDone } = streamEventsOf(text)
        assert.ok(isDone)
        assert.deepEqual(events.at(-1)?.data, { type: 'abort', reason: 'cancelled' })
      }
    })
    // The model call would last for 60 s.
    assert.ok(tookMs < 5_000, `the streams must end within 5 s, not ${tookMs} ms`)
  })

  test('buffers no more than the socket holds for a reader that is stuck, and loses nothing', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const turnId = await begin(owner, session.id, 'Hello')
    await untilStatus(app, owner, turnId, 'completed')
    const big = JSON.stringify({ type: 'text-delta', id: 'x', delta: 'x'.repeat(60_000) })
    const last = await app.db.row<{ seq: number }>(sql`
      select max(seq) as seq from turn_events where org_id = ${owner.orgId} and turn_id = ${turnId}`)
    const from = last?.seq ?? 0
    await app.db.execute(sql`
      insert into turn_events (org_id, turn_id, seq, frames)
      select ${owner.orgId}, ${turnId}, n, ${big} from generate_series(${from + 1}::integer, ${from + 400}::integer) n`)
    const accepted = once(app.app.server, 'connection') as Promise<[Socket]>
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    const [serverSide] = await accepted
    socket.pause()
    socket.write(
      `GET /api/v1/turns/${turnId}/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.key}\r\nConnection: close\r\n\r\n`,
    )
    await until(
      async () => serverSide.writableNeedDrain,
      (isFull) => isFull,
    )
    // A server that ignores backpressure would have sent all 24 MB in this time.
    await until(
      () => app.call('GET', `/api/v1/turns/${turnId}`, { as: owner }).then(({ status }) => status),
      (status) => status === 200,
    )
    assert.ok(serverSide.writableLength < 1_000_000, `${serverSide.writableLength} bytes wait`)
    let text = ''
    for await (const chunk of socket) text += (chunk as Buffer).toString()
    assert.equal(text.match(/^id: /gm)?.length, from + 400)
    assert.match(text, /data: \[DONE\]/)
  })
})
