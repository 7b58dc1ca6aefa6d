import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startTestApp } from '../harness.ts'
import { startBrowser } from '../support/browser.ts'
import { installSdk } from './installed.ts'

const project = await installSdk()

/** Responds with an empty page, or a module of the SDK. */
const answerAsSite = (url: string, response: ServerResponse): void => {
  const [, name] = /^\/sdk\/([\w-]+\.js)$/.exec(url) ?? []
  if (name === undefined) {
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><title>Site</title><link rel="icon" href="data:,">')
    return
  }
  readFile(join(project.folder, 'node_modules/@atrium/client/dist', name)).then(
    (text) => response.setHeader('content-type', 'text/javascript').end(text),
    () => response.writeHead(404).end(),
  )
}

const startSite = async (): Promise<string> => {
  const server = createServer(({ url = '' }, response) => answerAsSite(url, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const [listed, other] = [await startSite(), await startSite()]
const app = await startTestApp({ CORS_ORIGINS: listed })
const owner = await app.createOrg('Acme')
const { open } = await startBrowser()

/** Evaluates the body of an async function with `atrium` and everything that the SDK exports as `sdk`. */
const evaluateOn = async (site: string, body: string): Promise<unknown> => {
  const { page } = await open()
  await page.goto(`${site}/`)
  const options = JSON.stringify({ baseUrl: app.url, apiKey: owner.key, maxRetries: 0 })
  return page.evaluate(`import('/sdk/index.js').then(async (sdk) => {
    const atrium = sdk.createClient(${options})
    ${body}
  })`)
}

test('the SDK in a page of the server does not send its org to the origin to which a download is redirected', async () => {
  const received: [path: string, headers: IncomingHttpHeaders][] = []
  const start = async (answer: RequestListener): Promise<string> => {
    const server = createServer((request, response) => {
      if (request.method === 'GET') received.push([request.url ?? '', request.headers])
      answer(request, response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    after(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
  const store = await start((_request, response) => response.writeHead(200, cors).end('bytes'))
  const proxy = await start(({ url = '' }, response) => {
    if (url.startsWith('/api/')) response.writeHead(302, { location: `${store}/object` }).end()
    else answerAsSite(url, response)
  })
  const result = await evaluateOn(
    proxy,
    `const scoped = sdk.createClient({ orgId: 'acme', workspaceId: 'main' })
    const response = await scoped.send('GET /files/:id', { params: { id: 'f' }, query: { download: true } })
    return response.text()`,
  )
  assert.equal(result, 'bytes')
  const sent = received.filter(([path]) => path.startsWith('/api/') || path === '/object')
  assert.deepEqual(
    sent.map(([path, headers]) => [path, headers['x-org-id'], headers['x-workspace-id']]),
    [
      ['/api/v1/files/f?download=true', 'acme', 'main'],
      ['/api/v1/files/f?download=true&orgId=acme', undefined, undefined],
      ['/object', undefined, undefined],
    ],
  )
})

describe('the SDK in a page of another origin that the server lists', () => {
  test('lists items and reads the ETag and the request id', async () => {
    const result = (await evaluateOn(
      listed,
      `for (const name of ['A', 'B']) await atrium.call('POST /files', { body: { source: 'folder', name } })
      const names = []
      for await (const { name } of sdk.listItems(atrium, 'GET /files', { query: { limit: 1 } })) names.push(name)
      const { etag, data } = await atrium.callWithResponse('POST /projects', { body: { name: 'Launch' } })
      const failed = await atrium.call('PATCH /projects/:id', {
        params: { id: data.id }, body: { name: 'x' }, ifMatch: '"none"',
      }).catch((error) => error)
      return { names, etag, code: failed.code, hasRequestId: typeof failed.requestId === 'string' }`,
    )) as { names: string[]; etag: unknown; code: string; hasRequestId: boolean }
    assert.ok(result.names.includes('A') && result.names.includes('B'), String(result.names))
    assert.equal(typeof result.etag, 'string')
    assert.equal(result.code, 'CONFLICT')
    assert.equal(result.hasRequestId, true)
  })

  test('uploads a file with progress by a signed URL, and by a form, and downloads it', async () => {
    const result = await evaluateOn(
      listed,
      `const content = new Blob(['x'.repeat(100_000)], { type: 'text/plain' })
      const sent = []
      const file = await sdk.uploadFile(atrium, { content, name: 'a.txt', onProgress: ({ sentBytes }) => sent.push(sentBytes) })
      const form = new FormData()
      form.append('file', content, 'b.txt')
      const headers = { authorization: 'Bearer ' + ${JSON.stringify(owner.key)} }
      const formed = await fetch(${JSON.stringify(app.url)} + '/api/v1/files', { method: 'POST', headers, body: form })
      const url = ${JSON.stringify(app.url)} + '/api/v1/files/' + file.id + '?download=true'
      const text = await fetch(url, { headers }).then((response) => response.text())
      return [file.status, sent.at(-1), formed.status, text.length]`,
    )
    assert.deepEqual(result, ['ready', 100_000, 201, 100_000])
  })

  test('streams a reply and events', async () => {
    const result = await evaluateOn(
      listed,
      `const session = await atrium.call('POST /sessions', { body: { agentId: 'assistant' } })
      let text = ''
      for await (const { part } of sdk.streamReply(atrium, session.id, { text: 'Hello' })) {
        if (part.type === 'text-delta') text += part.delta
      }
      let type = ''
      for await (const event of sdk.streamEvents(atrium, { after: 0, types: ['session.*'] })) {
        type = event.type
        break
      }
      return [text.split('\\n')[0], type]`,
    )
    assert.deepEqual(result, ['You wrote: “Hello”', 'session.created'])
  })
})

describe('a page of another origin', () => {
  test('cannot read or change anything with a key when the server does not list its origin', async () => {
    const result = await evaluateOn(
      other,
      `const codeOf = (work) => work.then(() => 'done', (error) => error.code)
      return [
        await codeOf(atrium.call('GET /me')),
        await codeOf(atrium.call('POST /agents', { body: { name: 'Of the other page' } })),
      ]`,
    )
    assert.deepEqual(result, ['NETWORK', 'NETWORK'])
    const { body } = await app.call('GET', '/api/v1/agents', { as: owner })
    assert.ok(!JSON.stringify(body).includes('Of the other page'))
  })

  test('cannot send cookies, even when the server lists its origin', async () => {
    const result = await evaluateOn(
      listed,
      `const ask = (init) => fetch(${JSON.stringify(app.url)} + '/api/v1/me', init).then(({ status }) => status, () => 'blocked')
      const headers = { authorization: 'Bearer ' + ${JSON.stringify(owner.key)} }
      return [await ask({ headers }), await ask({ headers, credentials: 'include' }), await ask({})]`,
    )
    assert.deepEqual(result, [200, 'blocked', 'blocked'])
  })
})
