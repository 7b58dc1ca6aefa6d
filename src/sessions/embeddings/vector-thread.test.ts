import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { ProviderResponse, VectorCall } from './protocol.ts'
import { createVectorThread } from './vector-thread.ts'
import { createVectorThreads } from './vector-threads.ts'

const call: VectorCall = {
  provider: { protocol: 'openai', name: 'openai', baseUrl: 'http://127.0.0.1:1/v1' },
  name: 'small',
  apiKey: 'sk-secret',
  input: ['a', 'b'],
  dimensions: undefined,
  format: 'lists',
}

const responseOf = (vectors: number[][]): ProviderResponse => {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  const body = new TextEncoder().encode(JSON.stringify({ object: 'list', data, model: 'small' }))
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}
const small = async (): Promise<ProviderResponse> => responseOf([[1], [2]])
const never = new AbortController().signal

const textOf = (result: object): string => {
  assert.ok('json' in result, JSON.stringify(result))
  return new TextDecoder().decode(result.json as Uint8Array)
}

describe('the thread for vectors', () => {
  const thread = createVectorThread()
  after(() => thread.close())

  test('reads and writes large vectors, so that the server has a small part of the work', async () => {
    const texts = 200
    const numbers = Array.from({ length: 3_072 }, (_, place) => place / 7)
    const response = responseOf(Array.from({ length: texts }, () => numbers))
    // Its modules are loaded by then.
    await thread.ask(call, small, never)
    const [allBefore, ownBefore] = [process.cpuUsage(), process.threadCpuUsage()]
    const large = { ...call, input: Array.from({ length: texts }, () => 'a') }
    const result = await thread.ask(large, async () => response, never)
    const [all, own] = [process.cpuUsage(allBefore).user, process.threadCpuUsage(ownBefore).user]
    assert.deepEqual(JSON.parse(textOf(result))[texts - 1], numbers)
    assert.ok(own * 3 < all, `${own} of ${all} microseconds`)
  })

  test('rejects a call that is aborted or whose request fails, and goes on with others', async () => {
    const abort = new AbortController()
    const asked = Promise.withResolvers<void>()
    const waiting = thread.ask(
      call,
      () => {
        asked.resolve()
        return Promise.withResolvers<ProviderResponse>().promise
      },
      abort.signal,
    )
    await asked.promise
    const beside = thread.ask(call, small, never)
    abort.abort(new Error('too late'))
    await assert.rejects(waiting, /too late/)
    assert.equal(textOf(await beside), '[[1],[2]]')
    const failing = thread.ask(call, () => Promise.reject(new Error('no route to host')), never)
    await assert.rejects(failing, /no route to host/)
    assert.equal(textOf(await thread.ask(call, small, never)), '[[1],[2]]')
  })

  test('says why a response has no vectors, without its text', async () => {
    const body = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
    const answer = (status: number, text: string) => async (): Promise<ProviderResponse> => ({
      status,
      headers: { 'content-type': 'application/json', 'retry-after': '7' },
      body: body(text),
    })
    const limited = await thread.ask(call, answer(429, '{"error":{"message":"planted"}}'), never)
    assert.ok('error' in limited)
    assert.deepEqual([limited.error.statusCode, limited.error.responseHeaders?.['retry-after']], [429, '7'])
    assert.doesNotMatch(JSON.stringify(limited), /planted/)
    const garbage = await thread.ask(call, answer(200, 'garbage'), never)
    assert.ok('error' in garbage)
    assert.deepEqual(await thread.ask(call, async () => responseOf([[1], [2, 3]]), never), { unreadable: true })
  })
})

test('a response that needs too much memory ends its call, not the server, and the next call has vectors', async () => {
  const thread = createVectorThread({ heapMegabytes: 24 })
  try {
    const numbers = Array.from({ length: 3_072 }, (_, place) => place / 7)
    const large = { ...call, input: Array.from({ length: 600 }, () => 'a') }
    const response = responseOf(large.input.map(() => numbers))
    await assert.rejects(
      thread.ask(large, async () => response, never),
      /memory/,
    )
    assert.equal(textOf(await thread.ask(call, small, never)), '[[1],[2]]')
  } finally {
    await thread.close()
  }
})

test('vectors of an org that need too much memory do not end the calls of another org', async () => {
  const threads = createVectorThreads({ threads: 2, heapMegabytes: 24 })
  try {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<ProviderResponse>()]
    const waiting = threads.ask(
      'patient',
      call,
      () => {
        asked.resolve()
        return answer.promise
      },
      never,
    )
    await asked.promise
    const numbers = Array.from({ length: 3_072 }, (_, place) => place / 7)
    const large = { ...call, input: Array.from({ length: 600 }, () => 'a') }
    const response = responseOf(large.input.map(() => numbers))
    const greedy = threads.ask('greedy', large, async () => response, never)
    await assert.rejects(greedy, /memory/)
    answer.resolve(await small())
    assert.equal(textOf(await waiting), '[[1],[2]]')
  } finally {
    await threads.close()
  }
})
