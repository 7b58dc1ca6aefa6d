import assert from 'node:assert/strict'
import { after, test } from 'node:test'
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
