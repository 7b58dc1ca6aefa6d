import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { childrenWith } from '../../../test/support/child-processes.ts'
import { until } from '../../../test/support/until.ts'
import { ApiError } from '../http/errors.ts'
import { createPages } from './pages.ts'

// A busy machine may take longer than the default limit for a page.
const pages = createPages({ timeoutMs: 120_000, niceness: 0 })
after(() => pages.close())

test('pages of one person neither delay those of another person of the org nor use up their waiting places', async () => {
  const order: string[] = []
  const read = async (userId: string): Promise<void> => {
    const reader = pages.for({ orgId: 'org', userId, signal: new AbortController().signal })
    const { text } = await reader.text('<p>Hello</p>', 'https://example.com/')
    assert.match(text, /Hello/)
    order.push(userId)
  }
  const many = Array.from({ length: 7 }, () => read('busy'))
  await assert.rejects(read('busy'), (error) => error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE')
  await Promise.all([...many, read('other')])
  assert.ok(order.indexOf('other') <= 4, order.join())
})

test('the pages of an org that has two of the three processes do not delay a page of another org', async () => {
  const read = (orgId: string) =>
    pages
      .for({ orgId, userId: orgId, signal: new AbortController().signal })
      .text('<p>Hello</p>', 'https://example.com/')
  const many = Array.from({ length: 4 }, () => read('busy'))
  // Stopped, they take as long as the test wants.
  const busy = await until(
    () => childrenWith('page-child.ts'),
    (pids) => pids.length === 2,
  )
  for (const pid of busy) process.kill(pid, 'SIGSTOP')
  assert.match((await read('other')).text, /Hello/)
  for (const pid of busy) process.kill(pid, 'SIGCONT')
  await Promise.all(many)
})
