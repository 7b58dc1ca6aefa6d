// Hostile input at each place where the server parses it: it must neither block the event loop nor cause a server error.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ask, createAgent, openSession } from './support/chat.ts'
import { docx, zip } from './support/documents.ts'
import { startProvider } from './fakes/provider.ts'
import { upload } from './support/files.ts'
import { sendRaw } from './support/raw-http.ts'
import { startTestApp } from './harness.ts'
import type { Answer } from './harness.ts'
import { longestBlockMs, measureBlocks } from './support/processes/longest-block.ts'
import { pathOf, routesOf } from './contract/route-list.ts'
import { createWebhook, deliver, openLoopback, read } from './support/webhooks.ts'

const provider = await startProvider()
const app = await startTestApp(openLoopback)
const owner = await app.createOrg()
const api = '/api/v1'

/** Text of a minimum length made of a few repeated pieces, which finds quadratic and exponential algorithms. */
const repetitions = (pieces: readonly string[], length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.record({ piece: fc.constantFrom(...pieces), share: fc.integer({ min: 1, max: 4 }) }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((parts) => {
      const all = parts.reduce((sum, { share }) => sum + share, 0)
      return parts.map(({ piece, share }) => piece.repeat(Math.ceil((length * share) / all / piece.length))).join('')
    })

/** Runs the work and asserts that it blocked the main thread no longer than the documented limit. */
const staysResponsive = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  const meter = measureBlocks()
  const result = await work()
  const longest = meter.stop()
  assert.ok(longest < longestBlockMs, `${what} blocked the process for ${longest.toFixed(0)} ms`)
  return result
}

const holds = (property: fc.IAsyncProperty<[string]>, numRuns = 6): Promise<void> =>
  // Shrinking would repeat slow cases; the error message contains the seed.
  fc.assert(property, { numRuns, endOnFailure: true })

const isNoServerError = ({ status, text }: Answer): void => assert.ok(status < 500, text.slice(0, 500))

describe('a page of HTML', () => {
  const tags = [
    '<a href="/x">',
    '<b>',
    '</b>',
    '<pre>',
    ' ',
    '\n',
    '</p>',
    '<p x="',
    '<!--',
    '&amp',
    'x',
    '<td>',
    '<a ',
  ]
  const page = repetitions(tags, 1_000_000)

  test('a hostile HTML page is read by web.fetch and the web connector without blocking the process', async () => {
    await createAgent(app, owner, { name: 'Reader', allowedTools: ['web.fetch'], allowedConnectors: ['web'] })
    await app.call('POST', `${api}/connections`, { as: owner, json: { connectorSlug: 'web' } })
    const session = await openSession(app, owner, { agentId: 'reader' })
    const input = JSON.stringify({ url: `${provider.url}/page` })
    const readAll = async (html: string) => {
      provider.on('GET', '/page', { body: html })
      const text = ['web.fetch', 'web__read_page', 'web__list_links'].map((tool) => `/tool ${tool} ${input}`).join('\n')
      const { turn } = await ask(app, owner, session.id, { text })
      return turn.toolCalls as { status: string; output: { error?: string; text?: string; links?: unknown[] } }[]
    }
    const [fetched, found, links] = await readAll('<h1>Hello</h1><a href="/y">there</a>')
    assert.match(fetched?.output.text ?? '', /^# Hello/)
    assert.match(found?.output.text ?? '', /^# Hello/)
    assert.deepEqual(links?.output.links, [{ url: `${provider.url}/y`, text: 'there' }])
    await holds(
      fc.asyncProperty(page, async (html) => {
        const calls = await staysResponsive('a page', () => readAll(html))
        assert.equal(calls.length, 3)
        for (const { status, output } of calls) {
          assert.ok(status === 'done' || /too much/.test(output.error ?? ''), JSON.stringify(output).slice(0, 300))
        }
      }),
      4,
    )
    const nested = '<span><a href="/x">'.repeat(900) + '<pre>' + ' <b> </b>'.repeat(200_000)
    const calls = await staysResponsive('links in one another', () => readAll(nested))
    assert.ok(calls.every(({ status }) => status === 'done'))
  })
})

describe('the body of a webhook', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  test('a webhook body with any repeated text is received and can be read', async () => {
    const webhook = await createWebhook(app, owner)
    const pieces = ['a&', '&', '=', '%41', '{"a":', '[', '"', '\\', '9', '{},', '"id":1,', '\u00e9']
    await holds(
      fc.asyncProperty(repetitions(pieces, 900_000), async (text) => {
        const body = Buffer.from(text).subarray(0, 1_048_576).toString('utf8').slice(0, 500_000)
        for (const headers of [{}, form]) {
          const answer = await staysResponsive('a body', () => deliver(app, webhook, body, { headers }))
          assert.equal(answer.status, 200, answer.text)
          const path = `/${webhook.id}/events/${answer.body.data.eventId}`
          await staysResponsive('a record', () => read(app, owner, path))
        }
      }),
    )
  })

  test('a webhook body with 100,000 levels of JSON is received and returned as text, also inside a form', async () => {
    const webhook = await createWebhook(app, owner)
    const deep = `{"id":99999999999999999999,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    for (const [body, headers] of [
      [deep, {}],
      [`payload=${encodeURIComponent(deep)}`, form],
    ] as const) {
      const answer = await staysResponsive('deep JSON', () => deliver(app, webhook, body, { headers }))
      assert.equal(answer.status, 200, answer.text)
      const { payload } = await read(app, owner, `/${webhook.id}/events/${answer.body.data.eventId}`)
      assert.ok(typeof payload === 'string' || typeof payload.payload === 'string')
    }
  })

  test('a large whole number in a webhook body keeps its digits in every field', async () => {
    const webhook = await createWebhook(app, owner, { source: 'telegram' })
    const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': webhook.secret }
    for (const [n, body] of [
      (id: string) => `{"x":{"update_id":1,"y":"}"},"note":"\\"update_id\\":5","update_id": ${id} }`,
      (id: string) => `{"a":[{"b":[]}],"update_id":${id},"z":"{"}`,
      (id: string) => `{"update_id":90071992547409939,"\\u0075pdate_id":${id}}`,
    ].entries()) {
      const id = `1234567890123456789${n}`
      const answer = await app.call('POST', webhook.receivePath, { body: body(id), headers })
      assert.equal(answer.status, 200, answer.text)
      const { items } = await read(app, owner, `/${webhook.id}/events`)
      assert.equal(items[0].externalId, id)
    }
  })

  test('a Twilio webhook rejects a form with 100,000 fields immediately when its signature is invalid', async () => {
    const webhook = await createWebhook(app, owner, { source: 'twilio', secret: 'planted-auth-token' })
    const fields = Array.from({ length: 100_000 }, (_, n) => n.toString(36)).join('&')
    const headers = { ...form, 'x-twilio-signature': Buffer.alloc(20).toString('base64') }
    const answer = await staysResponsive('a form', () =>
      app.call('POST', webhook.receivePath, { body: fields, headers }),
    )
    assert.equal(answer.status, 401, answer.text)
  })
})

describe('a file', () => {
  const kinds: [string, string, (text: string) => string | Buffer, string[]][] = [
    ['text/csv', 'a.csv', (text) => text, ['"', ',', '\n', '""', 'x', '\r', ';']],
    ['text/markdown', 'a.md', (text) => text, ['*', '_', '[', '](', '`', '> ', '\n', '#', '\u00e9', '\0']],
    ['application/rtf', 'a.rtf', (text) => `{\\rtf1 ${text}}`, ['{', '}', '\\b', "\\'e9", '\\u9', 'x', '\\*']],
    [
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'a.docx',
      (text) => docx({ body: text }),
      ['<w:p>', '</w:p>', '<w:r><w:t>x</w:t></w:r>', '&amp;', '&', '<!--', '<![CDATA[', ' ', '<w:tbl>'],
    ],
    [
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'a.xlsx',
      (text) => zip({ 'xl/workbook.xml': text, '[Content_Types].xml': text }),
      ['<sheet name="', '"/>', '<', '&lt;', 'x'],
    ],
  ]
  for (const [type, name, make, pieces] of kinds) {
    test(`a preview of the hostile file ${name} does not block the process`, async () => {
      await holds(
        fc.asyncProperty(repetitions(pieces, 1_000_000), async (text) => {
          const bytes = make(text)
          const file = await staysResponsive('an upload', () => upload(app, owner, bytes, { name, type }))
          const path = `${api}/files/${file.id}/preview`
          const answer = await staysResponsive('a preview', () => app.call('GET', path, { as: owner }))
          assert.ok([200, 400].includes(answer.status), answer.text.slice(0, 300))
        }),
        3,
      )
    })
  }
})

describe('JSON of 100,000 levels', () => {
  const deep = `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const id = '019aa3f0-0000-7000-8000-00000000abcd'

  test('a body that exceeds its length and its number of chunks with the same chunk is rejected once', async () => {
    const head =
      'POST /api/v1/auth/sign-in HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n'
    const small = '1\r\n1\r\n'
    for (const body of [`${small.repeat(16_319)}c8\r\n${'1'.repeat(200)}\r\n`, small.repeat(60_000)]) {
      const [answer] = await sendRaw(app.url, head + body)
      assert.equal(answer?.status, 400)
    }
    assert.equal((await app.call('GET', `${api}/me`, { as: owner })).status, 200)
  })

  test('JSON of 100,000 levels is a client error, not a server error, on every route with a body', async () => {
    const routes = routesOf(app.app).filter(({ method }) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
    assert.ok(routes.length > 50)
    for (const { method, url, params } of routes) {
      const path = pathOf(url, Object.fromEntries(params.map((name) => [name, id])))
      const headers = { 'content-type': 'application/json' }
      const answer = await app.call(method, path, { as: owner, body: deep, headers })
      // 503 without a payment provider and 401 after a sign-out are allowed; a crash would be a 500.
      assert.notEqual(answer.status, 500, `${method} ${url}: ${answer.text}`)
    }
    isNoServerError(await app.call('GET', `${api}/me`, { as: owner }))
  })
})

describe('a request of WebDAV', () => {
  const body = repetitions(
    [
      '<a>',
      '</a>',
      '<a ',
      'x="',
      'xmlns:x="',
      '<![CDATA[',
      ']]>',
      '&#65;',
      '&lt;',
      '<?a ',
      '<!--',
      '<x:y/>',
      '"',
      '>',
      ' ',
    ],
    60_000,
  )
  const conditions = repetitions(['(', ')', '<a>', '["a"]', 'Not ', ' ', '<', '[', '"', 'x'], 12_000)

  test('hostile XML and If headers are rejected without blocking the process', async () => {
    await holds(
      fc.asyncProperty(body, async (text) => {
        const xml = `<D:propfind xmlns:D="DAV:"><D:prop>${text}`
        const call = () => app.call('PROPFIND', '/dav/', { as: owner, body: xml, headers: { depth: '0' } })
        assert.equal((await staysResponsive('XML', call)).status, 400)
      }),
    )
    await holds(
      fc.asyncProperty(conditions, async (text) => {
        const call = () => app.call('DELETE', '/dav/none', { as: owner, headers: { if: text.trim() || '(' } })
        isNoServerError(await staysResponsive('the If header', call))
      }),
    )
  })
})
