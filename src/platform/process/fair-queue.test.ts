import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createFairQueue } from './fair-queue.ts'
import type { FairQueueOptions } from './fair-queue.ts'

const queueOf = (options: Partial<FairQueueOptions> = {}) => {
  const queue = createFairQueue({
    running: 4,
    waiting: 100,
    waitingPerGroup: 100,
    busy: () => new Error('busy'),
    ...options,
  })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  /** Work that is named and that ends when `end` is called with its name. */
  const run = (name: string, signal?: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(name, resolve)
    // `org/person:number`
    const [of = ''] = name.split(':', 1)
    const [group, member] = of.split('/')
    const work = (): Promise<void> => {
      started.push(name)
      return promise
    }
    return queue.run(work, { group, member, signal })
  }
  const end = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      ends.get(name)?.()
      // oxlint-disable-next-line no-await-in-loop -- the order in which work ends is what a test is about
      await nextTurn()
    }
  }
  return { queue, run, started, end, close: queue.close }
}

test('a single group can use all places', async () => {
  const { run, started, end } = queueOf()
  const all = ['a:1', 'a:2', 'a:3', 'a:4', 'a:5'].map((name) => run(name))
  await nextTurn()
  assert.deepEqual(started, ['a:1', 'a:2', 'a:3', 'a:4'])
  await end('a:1', 'a:2', 'a:3', 'a:4', 'a:5')
  await Promise.all(all)
  assert.equal(started.length, 5)
})

test('a group with a long queue delays another group only by its running work', async () => {
  const { run, started, end } = queueOf()
  const flood = Array.from({ length: 50 }, (_, index) => run(`a:${index}`))
  const other = [run('b:0'), run('b:1'), run('b:2')]
  await nextTurn()
  assert.deepEqual(started, ['a:0', 'a:1', 'a:2', 'a:3'])
  await end('a:0', 'a:1', 'a:2')
  assert.deepEqual(started.slice(4), ['b:0', 'b:1', 'a:4'], 'half of the places go to the group that waited')
  await end(...Array.from({ length: 50 }, (_, index) => `a:${index}`), 'b:0', 'b:1', 'b:2')
  await end(...Array.from({ length: 50 }, (_, index) => `a:${index}`))
  await Promise.all([...flood, ...other])
})

test('waiting groups take turns', async () => {
  const { run, started, end } = queueOf({ running: 1 })
  const all = ['a:0', 'a:1', 'a:2', 'b:0', 'b:1', 'c:0'].map((name) => run(name))
  await end('a:0', 'a:1', 'b:0', 'c:0', 'a:2', 'b:1')
  await Promise.all(all)
  assert.deepEqual(started, ['a:0', 'a:1', 'b:0', 'c:0', 'a:2', 'b:1'])
})

test('a group never exceeds its own limit and leaves other places to other groups', async () => {
  const { run, started, end } = queueOf({ runningPerGroup: 1 })
  const all = ['a:0', 'a:1', 'b:0', 'b:1'].map((name) => run(name))
  await nextTurn()
  assert.deepEqual(started, ['a:0', 'b:0'])
  await end('b:0')
  assert.deepEqual(started, ['a:0', 'b:0', 'b:1'])
  await end('b:1', 'a:0', 'a:1')
  await Promise.all(all)
})

test('a group beyond its limit of waiting work is rejected, and another group is not', async () => {
  const { run, started, end } = queueOf({ running: 1, waitingPerGroup: 1 })
  const all = [run('a:0'), run('a:1'), run('b:0')]
  await assert.rejects(run('a:2'), /busy/)
  await end('a:0', 'a:1', 'b:0')
  await Promise.all(all)
  assert.ok(!started.includes('a:2'))
})

test('members of a group take turns', async () => {
  const { run, started, end } = queueOf({ running: 1 })
  const all = ['a/x:0', 'a/x:1', 'a/x:2', 'a/y:0', 'a/y:1', 'a/z:0'].map((name) => run(name))
  await end('a/x:0', 'a/x:1', 'a/y:0', 'a/z:0', 'a/x:2', 'a/y:1')
  await Promise.all(all)
  assert.deepEqual(started, ['a/x:0', 'a/x:1', 'a/y:0', 'a/z:0', 'a/x:2', 'a/y:1'])
})

test('a member never exceeds its own limits and leaves other places to other members and groups', async () => {
  const { run, started, end } = queueOf({
    runningPerGroup: 3,
    runningPerMember: 2,
    waitingPerGroup: 3,
    waitingPerMember: 1,
  })
  const all = ['a/x:0', 'a/x:1', 'a/x:2', 'a/y:0', 'a/y:1', 'b/x:0'].map((name) => run(name))
  await nextTurn()
  assert.deepEqual(started, ['a/x:0', 'a/x:1', 'a/y:0', 'b/x:0'])
  await assert.rejects(run('a/x:3'), /busy/)
  await end('a/y:0')
  assert.deepEqual(started.slice(4), ['a/y:1'], 'work of the member at its limit is passed over')
  await end('a/x:0')
  assert.deepEqual(started.slice(5), ['a/x:2'])
  await end('a/x:1', 'a/x:2', 'a/y:1', 'b/x:0')
  await Promise.all(all)
})

test('work that names no member has the limits of its group only', async () => {
  const { run, started, end } = queueOf({ runningPerMember: 1, waitingPerMember: 0 })
  const all = ['a:0', 'a:1', 'a:2', 'a:3', 'a:4'].map((name) => run(name))
  await nextTurn()
  assert.equal(started.length, 4)
  await end('a:0', 'a:1', 'a:2', 'a:3', 'a:4')
  await Promise.all(all)
})

test('aborted waiting work never starts and frees its place', async () => {
  const { run, started, end } = queueOf({ running: 1 })
  const first = run('a:0')
  const gone = new AbortController()
  const leaving = run('a:1', gone.signal)
  const next = run('b:0')
  gone.abort(new Error('gone'))
  await assert.rejects(leaving, /gone/)
  await end('a:0', 'b:0')
  await Promise.all([first, next])
  assert.deepEqual(started, ['a:0', 'b:0'])
})

test('failed work frees its place', async () => {
  const { queue, run, end } = queueOf({ running: 1 })
  await assert.rejects(
    queue.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  )
  const next = run('a:0')
  await end('a:0')
  await next
})

test('a closed queue rejects waiting and new work', async () => {
  const { run, end, close } = queueOf({ running: 1 })
  const first = run('a:0')
  const waiting = assert.rejects(run('a:1'), /busy/)
  close()
  await waiting
  await assert.rejects(run('b:0'), /busy/)
  await end('a:0')
  await first
})
