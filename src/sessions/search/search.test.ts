import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { newId, smallestIdOf } from '../../platform/ids.ts'
import { ask, createAgent, openSession } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { excerptOf, messageWords, queryOf, wordsOf } from './words.ts'

const app = await startTestApp()

const list = async (as: TestActor | string, query: Record<string, string>) => {
  const { status, body } = await app.call('GET', `/api/v1/sessions?${new URLSearchParams(query).toString()}`, { as })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.items as {
    id: string
    title: string
    source: string | null
    match?: { messageId: string; role: string; excerpt: string } | null
  }[]
}
const titles = async (as: TestActor, search: string, more: Record<string, string> = {}) =>
  (await list(as, { search, ...more })).map(({ title }) => title)

describe('search', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const talk = async (title: string, text: string, more: object = {}) => {
    const { id } = await openSession(app, owner, { title, ...more })
    await ask(app, owner, id, { text })
    return id as string
  }
  const revenue = await talk('Third quarter', 'Revenue of the Zürich office\nrose; see report_2026.pdf (page 12).')
  await talk('Lunch', `${'word '.repeat(2_000)}pancakes with ÄPFEL`, { agentId: 'ann' })
  await openSession(app, owner, { title: 'Revenue plans' })

  test('a session is found by words of its title or of one message, in any order and case, also by their beginnings', async () => {
    assert.deepEqual(await titles(owner, 'revenue'), ['Revenue plans', 'Third quarter'])
    assert.deepEqual(await titles(owner, 'ZÜRICH reven'), ['Third quarter'])
    assert.deepEqual(await titles(owner, 'äpfel'), ['Lunch'])
    assert.deepEqual(await titles(owner, 'report_2026.PDF'), ['Third quarter'])
    assert.deepEqual(await titles(owner, '2026'), ['Third quarter'])
    assert.deepEqual(await titles(owner, 'evenue'), [], 'not by the middle of a word')
    assert.deepEqual(await titles(owner, 'revenue pancakes'), [], 'not by words of two sessions')
    assert.deepEqual(await titles(owner, 'third zurich'), [])
  })

  test('a search returns the newest message that matches, with an excerpt around the first word', async () => {
    const [found] = await list(owner, { search: 'zürich' })
    const { body } = await app.call('GET', `/api/v1/sessions/${revenue}/messages`, { as: owner })
    const asked = body.data.items.find(({ role }: { role: string }) => role === 'user')
    assert.deepEqual([found?.id, found?.match?.messageId, found?.match?.role], [revenue, asked.id, 'user'])
    assert.match(found?.match?.excerpt ?? '', /Revenue of the Zürich office rose; see/)
    const [long] = await list(owner, { search: 'pancakes' })
    assert.match(long?.match?.excerpt ?? '', /^…(word )+pancakes with ÄPFEL/)
    const [byTitle] = await list(owner, { search: 'plans' })
    assert.equal(byTitle?.match, null)
    assert.ok(!('match' in ((await list(owner, {}))[0] ?? {})), 'lists have no matches')
  })

  test('a search can be limited to an agent, a source and a number of sessions', async () => {
    assert.deepEqual(await titles(owner, 'pancakes', { agentId: 'ann' }), ['Lunch'])
    assert.deepEqual(await titles(owner, 'pancakes', { agentId: 'assistant' }), [])
    assert.deepEqual(await titles(owner, 'revenue', { limit: '1' }), ['Revenue plans'])
    assert.deepEqual(await titles(owner, 'revenue', { source: 'api' }), ['Revenue plans', 'Third quarter'])
    assert.deepEqual(await titles(owner, 'revenue', { source: 'mcp' }), [])
  })

  test('a search never finds deleted sessions, nor those of another workspace or org', async () => {
    const stranger = await app.createOrg()
    assert.deepEqual(await titles(stranger, 'revenue'), [])
    const { body } = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Other' } })
    const other = { 'x-workspace-id': body.data.id as string }
    const elsewhere = await app.call('GET', '/api/v1/sessions?search=revenue', { as: owner, headers: other })
    assert.deepEqual(elsewhere.body.data.items, [])
    const id = await talk('Gone', 'The unicorn report')
    assert.deepEqual(await titles(owner, 'unicorn'), ['Gone'])
    await app.call('DELETE', `/api/v1/sessions/${id}`, { as: owner })
    assert.deepEqual(await titles(owner, 'unicorn'), [])
  })

  test('a search text has 1–200 characters, and punctuation, quotes and operators in it are only separators', async () => {
    for (const text of ['', 'x'.repeat(201)]) {
      const { status } = await app.call('GET', `/api/v1/sessions?search=${text}`, { as: owner })
      assert.equal(status, 400)
    }
    for (const text of ['!!!', `'`, '\\', ' ', '%']) assert.deepEqual(await titles(owner, text), [], text)
    for (const text of [`'revenue' | !office`, 'revenue:* & <office>', `\\revenue'office`]) {
      assert.deepEqual(await titles(owner, text), ['Third quarter'], text)
    }
  })

  test('messages of all months are found, the newest first, and a frequent word reads a bounded number of them', async () => {
    const crowd = await app.createOrg()
    const year = Date.now() - 365 * 86_400_000
    const { id } = await openSession(app, crowd, { title: 'Old' })
    await app.db.execute(sql`
      insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts)
      values (${crowd.orgId}, ${id}, 1, ${smallestIdOf(year)}, ${newId()}, 1, 'user', '{"type":"user","id":null,"name":"x"}',
        '[{"type":"text","text":"An ancient memo"}]')`)
    const newer = await openSession(app, crowd, { title: 'New' })
    await ask(app, crowd, newer.id, { text: 'A new memo' })
    assert.deepEqual(await titles(crowd, 'ancient'), ['Old'])
    assert.deepEqual(await titles(crowd, 'memo'), ['New', 'Old'])
    assert.deepEqual(await titles(crowd, 'memo', { limit: '1' }), ['New'])
  })
})

test('a search reads an index, not the messages of the org, and only the list of the words of this org', async () => {
  const owner = await app.createOrg()
  const { id } = await openSession(app, owner)
  await app.db.execute(sql`
    insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts)
    select ${owner.orgId}, ${id}, n, id, ${newId()}, n, 'user', '{}',
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'common text number' || n))
    from unnest(${Array.from({ length: 3_000 }, () => newId())}::uuid[]) with ordinality as made (id, n)`)
  await app.db.execute(sql`analyze messages`)
  const plan = await app.db.rows<{ queryPlan: string }>(sql`
    explain select m.id from messages m where m.org_id = ${owner.orgId}
      and coalesce(m.words, search_words(m.org_id, left(message_text(m.parts), 4000))) @@ ${queryOf(owner.orgId, ['number77'])}::tsquery`)
  const text = JSON.stringify(plan)
  assert.match(text, /Bitmap Index Scan on messages_\w*(search_words|coalesce)/)
  assert.doesNotMatch(text, /Seq Scan on messages_initial/)
})

test('the words of a message are stored with it, as the database would compute them', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const { id } = await openSession(app, owner)
  await ask(app, owner, id, { text: "It's a (small) „Prüfung“: 1,5 % of C:\\temp — İstanbul & 東京…" })
  const chat = {
    model: 'agent/assistant',
    messages: [
      { role: 'user', content: 'An imported question' },
      { role: 'assistant', content: 'An imported answer' },
      { role: 'user', content: 'The last question' },
    ],
  }
  assert.equal((await app.call('POST', '/api/openai/v1/chat/completions', { as: owner, json: chat })).status, 200)
  const rows = await app.db.rows<{ text: string; stored: string | null; computed: string }>(sql`
    select message_text(parts) as text, words::text as stored, search_words(org_id, message_text(parts))::text as computed
    from messages where org_id = ${owner.orgId}`)
  assert.equal(rows.length, 6)
  for (const { text, stored, computed } of rows) {
    // PostgreSQL and JavaScript write the İ differently in lower case.
    if (!text.includes('İ')) assert.equal(stored, computed, text)
    else assert.match(stored ?? '', /i̇stanbul/)
  }
  assert.deepEqual(await titles(owner, 'İSTANBUL', { source: 'api' }), await titles(owner, 'prüfung'))
})

test('a frequent word of long messages is found without computing their words again', async () => {
  const owner = await app.createOrg()
  const { id } = await openSession(app, owner, { title: 'Long' })
  const words = messageWords(owner.orgId, [{ type: 'text', text: 'stored' }])
  // If the words were computed, these messages would not be found.
  await app.db.execute(sql`
    insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts, words)
    select ${owner.orgId}, ${id}, n, id, ${newId()}, n, 'user', '{}', '[{"type":"text","text":"computed"}]', ${words}
    from unnest(${Array.from({ length: 200 }, () => newId())}::uuid[]) with ordinality as made (id, n)`)
  await app.db.execute(sql`analyze messages`)
  assert.deepEqual(await titles(owner, 'stored'), ['Long'])
  assert.deepEqual(await titles(owner, 'computed'), [])
})

test('slow searches of an org leave connections to others, and too many of them are SERVICE_UNAVAILABLE', async () => {
  const [owner, other] = [await app.createOrg(), await app.createOrg()]
  const release = Promise.withResolvers<undefined>()
  const locked = Promise.withResolvers<undefined>()
  const holding = app.db.transaction('all orgs', async (db) => {
    await db.execute(sql`lock table messages in access exclusive mode`)
    locked.resolve(undefined)
    await release.promise
  })
  await locked.promise
  const search = () => app.call('GET', '/api/v1/sessions?search=anything', { as: owner })
  // One runs and five of the person wait; which of the others are rejected depends on the order of their connections.
  const searches = Array.from({ length: 8 }, search)
  assert.equal((await Promise.race(searches)).status, 503)
  assert.equal((await app.call('GET', '/api/v1/files', { as: other })).status, 200)
  // The transaction of this test and one search.
  await until('one search runs', () => app.db.poolUse().inUse === 2 && app.db.poolUse().waiting === 0)
  release.resolve(undefined)
  await holding
  const statuses = (await Promise.all(searches)).map(({ status }) => status)
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [...Array.from({ length: 6 }, () => 200), 503, 503],
  )
})

test('every session records how it was created, and the list can be filtered by it', async () => {
  const owner = await app.createOrg()
  const made = await openSession(app, owner, { title: 'By key' })
  assert.equal(made.source, 'api')
  assert.equal((await app.call('GET', `/api/v1/sessions/${made.id}`, { as: owner })).body.data.source, 'api')
  await app.db.execute(sql`
    insert into sessions (org_id, id, workspace_id, agent_id, title, relationship, created_by)
    select org_id, ${newId()}, workspace_id, agent_id, 'Old chat', 'connector', created_by from sessions
    where org_id = ${owner.orgId} limit 1`)
  const bySource = async (source: string) => (await list(owner, { source })).map(({ title }) => title)
  assert.deepEqual(await bySource('api'), ['By key'])
  assert.deepEqual(await bySource('chat'), ['Old chat'])
  assert.deepEqual(await bySource('console'), [])
  const chat = { model: 'agent/assistant', messages: [{ role: 'user', content: 'By OpenAI' }] }
  const completed = await app.call('POST', '/api/openai/v1/chat/completions', { as: owner, json: chat })
  assert.equal(completed.status, 200, completed.text)
  const params = { name: 'agents_ask', arguments: { text: 'By MCP' } }
  const called = await app.call('POST', '/mcp', {
    as: owner,
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    headers: { accept: 'application/json, text/event-stream' },
  })
  assert.equal(called.status, 200, called.text)
  assert.deepEqual(await bySource('openai'), ['By OpenAI'])
  assert.deepEqual(await bySource('mcp'), ['By MCP'])
  const tested = await openSession(app, owner, { title: 'A test', isTest: true })
  assert.equal(tested.source, 'test')
  assert.deepEqual(await bySource('test'), ['A test'])
  const all = await list(owner, {})
  const withoutTests = await list(owner, { includeTests: 'false' })
  assert.deepEqual(
    withoutTests.map(({ title }) => title),
    all.map(({ title }) => title).filter((title) => title !== 'A test'),
  )
  assert.equal(all.length, withoutTests.length + 1)
  const { status } = await app.call('GET', '/api/v1/sessions?source=elsewhere', { as: owner })
  assert.equal(status, 400)
})

test('an excerpt has at most 160 characters of the text, around the first word that occurs', () => {
  assert.equal(excerptOf('Short text', ['text']), 'Short text')
  assert.equal(excerptOf('Nothing\n\n here', ['missing']), 'Nothing here')
  const long = `${'before '.repeat(50)}needle ${'after '.repeat(50)}`
  const excerpt = excerptOf(long, ['zzz', 'needle'])
  assert.match(excerpt, /^…(before )+needle (after )+a?f?t?e?r?…$/)
  assert.ok(excerpt.length <= 162, String(excerpt.length))
  assert.ok(excerptOf('x'.repeat(1_000) + 'needle', ['needle']).startsWith('…needle'))
})

test('of a message, the first 500 different words are stored, each with at most 64 characters', () => {
  const orgId = newId()
  const stored = (text: string) => messageWords(orgId, [{ type: 'text', text }]).split(' ')
  const many = Array.from({ length: 600 }, (_, n) => `w${n}`).join(' ')
  assert.deepEqual(stored(`${many} ${many}`), stored(many))
  assert.equal(stored(many).length, 500)
  assert.deepEqual(stored('Yes, yes!'), [`'${orgId.slice(-12)}yes'`])
  assert.equal(stored('x'.repeat(100))[0]?.length, 64 + 12 + 2)
  assert.equal(messageWords(orgId, []), '')
})

test('a query has at most eight words of at most 64 characters', () => {
  assert.deepEqual(wordsOf('one, two; THREE'), ['one', 'two', 'three'])
  assert.equal(wordsOf('a b c d e f g h i j').length, 8)
  assert.equal(wordsOf('x'.repeat(100))[0]?.length, 64)
})
