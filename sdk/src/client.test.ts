import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import { AtriumError, createClient, isAtriumError, listItems, listPages } from './index.ts'
import type { ClientOptions, ErrorCodeOf, Fetch } from './index.ts'

const app = await startTestApp()
const owner = await app.createOrg('Acme')
const clientOf = (options: ClientOptions = {}) => createClient({ baseUrl: app.url, apiKey: owner.key, ...options })
const client = clientOf()

interface Recorded {
  method: string
  headers: Headers
}

/** A fetch that passes requests on and records them. */
const recording = () => {
  const requests: Recorded[] = []
  const recorded: Fetch = (input, init) => {
    requests.push({ method: init.method ?? 'GET', headers: new Headers(init.headers) })
    return fetch(input, init)
  }
  return { requests, fetch: recorded }
}

/** A fetch whose first responses never arrive, after the server has executed the requests. */
const losing = (count: number) => {
  const { requests, fetch: recorded } = recording()
  let left = count
  const lossy: Fetch = async (...args) => {
    const response = await recorded(...args)
    left -= 1
    if (left >= 0) throw new TypeError('fetch failed')
    return response
  }
  return { requests, fetch: lossy }
}

/** A fetch whose first responses are these, without a request; then it passes requests on. */
const rejecting = (...responses: Response[]) => {
  const { requests, fetch: recorded } = recording()
  const times: number[] = []
  const rejected: Fetch = (input, init) => {
    times.push(performance.now())
    const next = responses.shift()
    if (!next) return recorded(input, init)
    requests.push({ method: init.method ?? 'GET', headers: new Headers(init.headers) })
    return Promise.resolve(next)
  }
  return { requests, times, fetch: rejected }
}

const failure = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  Response.json({ success: false, error: { code, message: 'Try again.' } }, { status, headers })

/** A fetch that never responds, and rejects when it is aborted. */
const silent: Fetch = (_input, init) =>
  new Promise((_resolve, reject) => {
    init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
  })

/** Starts a server and returns its URL. */
const listen = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  after(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a call', () => {
  test('sends params, query and body of its route and resolves with the data', async () => {
    const me = await client.call('GET /me')
    assert.equal(me.org.name, 'Acme')
    const { file } = await client.call('POST /files', { body: { source: 'folder', name: 'Reports' } })
    const read = await client.call('GET /files/:id', { params: { id: file.id } })
    assert.equal(read.name, 'Reports')
    const { items, total } = await client.call('GET /files', {
      query: { search: 'rep', limit: 10, parentId: undefined },
    })
    assert.deepEqual([items.map(({ id }) => id), total], [[file.id], 1])
  })

  test('sends a FormData body unchanged', async () => {
    const body = new FormData()
    body.append('file', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt')
    const { file } = await client.call('POST /files', { body })
    assert.equal(file.size, 5)
  })

  test('sends the workspace and the org of the options', async () => {
    const { requests, fetch } = recording()
    let workspaceId: string | undefined = owner.workspaceId
    const scoped = clientOf({ fetch, orgId: owner.orgId, workspaceId: () => workspaceId })
    await scoped.call('GET /me')
    workspaceId = undefined
    await scoped.call('GET /me')
    assert.deepEqual(
      requests.map(({ headers }) => [headers.get('x-org-id'), headers.get('x-workspace-id')]),
      [
        [owner.orgId, owner.workspaceId],
        [owner.orgId, null],
      ],
    )
  })

  test('encodes an ID with slashes, so that it cannot reach another route', async () => {
    await assert.rejects(client.call('GET /files/:id', { params: { id: '../me' } }), { code: 'NOT_FOUND' })
  })

  test('that changes something follows no redirect, so that its body and tokens stay with the server', async () => {
    let received = 0
    const other = await listen((_request, response) => {
      received += 1
      response.end('{}')
    })
    const baseUrl = await listen((_request, response) => response.writeHead(307, { location: `${other}/` }).end())
    const redirected = clientOf({ baseUrl, maxRetries: 0 })
    await assert.rejects(redirected.call('POST /files', { body: { source: 'folder', name: 'A' } }))
    await assert.rejects(redirected.put(`${baseUrl}/upload`, new Blob(['bytes'])))
    assert.equal(received, 0)
  })

  test('that reads sends another origin of a redirect neither the key nor the org nor other headers', async () => {
    const received: IncomingHttpHeaders[] = []
    const store = await listen(({ headers }, response) => {
      received.push(headers)
      response.end('bytes')
    })
    const baseUrl = await listen(({ headers, url = '' }, response) => {
      received.push(headers)
      response.writeHead(302, { location: url.startsWith('/api/') ? '/second?step=1' : `${store}/object` }).end()
    })
    const scoped = clientOf({ baseUrl, orgId: owner.orgId, workspaceId: owner.workspaceId })
    const headers = { range: 'bytes=0-4', 'x-forwarded-secret': 'secret' }
    const response = await scoped.send('GET /files/:id', { params: { id: 'f' }, query: { download: true }, headers })
    assert.equal(await response.text(), 'bytes')
    const named = ['authorization', 'x-org-id', 'x-workspace-id', 'x-forwarded-secret', 'range']
    assert.deepEqual(
      received.map((one) => named.filter((name) => name in one)),
      [named, named, ['range']],
    )
  })

  test('that is redirected again and again is INVALID_RESPONSE', async () => {
    const baseUrl = await listen((_request, response) => response.writeHead(302, { location: '/' }).end())
    await assert.rejects(clientOf({ baseUrl }).call('GET /me'), { code: 'INVALID_RESPONSE' })
  })

  test('rejects missing params and dot segments before a request is sent', async () => {
    const { requests, fetch } = recording()
    for (const id of ['', '.', '..']) {
      await assert.rejects(clientOf({ fetch }).call('DELETE /files/:id', { params: { id } }), TypeError)
    }
    assert.equal(requests.length, 0)
  })

  test('rejects with the abort reason and is not retried when it is aborted', async () => {
    const { requests, fetch } = recording()
    const signal = AbortSignal.abort(new Error('left the page'))
    await assert.rejects(clientOf({ fetch }).call('GET /me', { signal }), /left the page/)
    assert.equal(requests.length, 0)
    const abort = new AbortController()
    const waiting = clientOf({ fetch: silent }).call('GET /me', { signal: abort.signal })
    abort.abort(new Error('changed my mind'))
    await assert.rejects(waiting, /changed my mind/)
  })

  test('rejects with the abort reason when it is aborted between two attempts', async () => {
    const abort = new AbortController()
    const fetch: Fetch = () => {
      queueMicrotask(() => setTimeout(() => abort.abort(new Error('stop waiting'))))
      return Promise.resolve(failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '20' }))
    }
    await assert.rejects(clientOf({ fetch }).call('GET /me', { signal: abort.signal }), /stop waiting/)
  })
})

describe('an error', () => {
  test('has the code, status, message and request ID of the response', async () => {
    const id = '01900000-0000-7000-8000-000000000000'
    await assert.rejects(client.call('GET /files/:id', { params: { id } }), (error) => {
      assert.ok(isAtriumError(error, 'GET /files/:id'))
      const code: ErrorCodeOf<'GET /files/:id'> = error.code
      assert.deepEqual([code, error.status, error.message], ['NOT_FOUND', 404, 'File not found'])
      assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/)
      return true
    })
  })

  test('of a proxy has the code of its status', async () => {
    for (const [status, code] of [
      [502, 'SERVICE_UNAVAILABLE'],
      [500, 'INTERNAL_ERROR'],
      [413, 'BAD_REQUEST'],
      [401, 'UNAUTHORIZED'],
    ] as const) {
      const { fetch } = rejecting(new Response('<h1>Sorry</h1>', { status }))
      await assert.rejects(clientOf({ fetch, maxRetries: 0 }).call('GET /me'), { code, status })
    }
  })

  test('is INVALID_RESPONSE when a successful response is not JSON', async () => {
    const { fetch } = rejecting(new Response('<h1>Welcome to the hotel</h1>'))
    await assert.rejects(clientOf({ fetch }).call('GET /me'), { code: 'INVALID_RESPONSE', status: 200 })
  })

  test('is TIMEOUT when no response arrives within the limit, or when its body stops', async () => {
    const limited = { timeoutMs: 20, maxRetries: 0 }
    await assert.rejects(clientOf({ ...limited, fetch: silent }).call('GET /me'), { code: 'TIMEOUT', status: 0 })
    const stuck: Fetch = (_input, init) => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"success":'))
          init.signal?.addEventListener('abort', () => controller.error(init.signal?.reason))
        },
      })
      return Promise.resolve(new Response(body))
    }
    await assert.rejects(clientOf({ ...limited, fetch: stuck }).call('GET /me'), { code: 'TIMEOUT' })
  })

  test('has no route codes that the API does not document, by its type', () => {
    const code: ErrorCodeOf<'GET /files'> = 'BAD_REQUEST'
    // @ts-expect-error -- reading files costs nothing
    const paid: ErrorCodeOf<'GET /files'> = 'PAYMENT_REQUIRED'
    assert.notEqual(code, paid)
  })
})

describe('retries', () => {
  test('repeat a POST whose response was lost with the same key, so that it is executed once', async () => {
    const { requests, fetch } = losing(2)
    const made = await clientOf({ fetch }).callWithResponse('POST /projects', { body: { name: 'Launch' } })
    assert.equal(made.isReplayed, true)
    const keys = requests.map(({ headers }) => headers.get('idempotency-key'))
    assert.deepEqual([keys.length, new Set(keys).size], [3, 1])
    assert.match(keys[0] ?? '', /^[0-9a-f]{32}$/)
    const projects = await client.call('GET /projects')
    assert.deepEqual(
      projects.items.map(({ id }) => id),
      [made.data.id],
    )
  })

  test('send an idempotency key only to routes that document it, and repeat no others', async () => {
    const { requests, fetch } = losing(1)
    const flaky = clientOf({ fetch })
    const password = { email: 'nobody@example.com', password: 'wrong' }
    await assert.rejects(flaky.call('POST /auth/sign-in', { body: password }), { code: 'NETWORK', status: 0 })
    assert.deepEqual(
      requests.map(({ headers }) => headers.get('idempotency-key')),
      [null],
    )
    // @ts-expect-error -- the route documents no Idempotency-Key
    void (() => client.call('POST /auth/sign-in', { body: password, idempotencyKey: 'mine' }))
  })

  test('use the key of the caller, which executes a call once over several clients', async () => {
    const body = { name: 'Nightly' }
    const first = await clientOf().call('POST /workspaces', { body, idempotencyKey: 'nightly-1' })
    const again = await clientOf().callWithResponse('POST /workspaces', { body, idempotencyKey: 'nightly-1' })
    assert.deepEqual([again.data.id, again.isReplayed], [first.id, true])
  })

  test('do not repeat a PATCH, because it may have been executed', async () => {
    const { requests, fetch } = losing(1)
    const { file } = await client.call('POST /files', { body: { source: 'folder', name: 'Once' } })
    const change = { params: { id: file.id }, body: { name: 'Renamed' } }
    await assert.rejects(clientOf({ fetch }).call('PATCH /files/:id', change), { code: 'NETWORK' })
    assert.equal(requests.length, 1)
  })

  test('wait for as long as a rate-limited response asks, also for methods that are not idempotent', async () => {
    const limited = failure(429, 'TOO_MANY_REQUESTS', { 'retry-after': '1' })
    const { requests, times, fetch } = rejecting(limited)
    const { file } = await client.call('POST /files', { body: { source: 'folder', name: 'Slow' } })
    await clientOf({ fetch }).call('PATCH /files/:id', { params: { id: file.id }, body: { name: 'Slower' } })
    assert.equal(requests.length, 2)
    assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 1_000)
  })

  test('follow rate limits that are BAD_REQUEST with Retry-After, and a key whose request is running', async () => {
    const body = { name: 'Retried' }
    for (const response of [
      failure(400, 'BAD_REQUEST', { 'retry-after': '0' }),
      failure(409, 'CONFLICT', { 'retry-after': '0' }),
    ]) {
      const { requests, fetch } = rejecting(response)
      await clientOf({ fetch }).call('POST /projects', { body })
      assert.equal(requests.length, 2)
    }
    for (const response of [failure(400, 'BAD_REQUEST'), failure(409, 'CONFLICT')]) {
      const { requests, fetch } = rejecting(response)
      await assert.rejects(clientOf({ fetch }).call('POST /projects', { body }), AtriumError)
      assert.equal(requests.length, 1)
    }
  })

  test('end after maxRetries, and at once when the server asks for more than maxRetryDelayMs', async () => {
    const unavailable = () => failure(503, 'SERVICE_UNAVAILABLE')
    const { requests, fetch } = rejecting(unavailable(), unavailable(), unavailable())
    await assert.rejects(clientOf({ fetch, maxRetries: 1 }).call('GET /me'), { code: 'SERVICE_UNAVAILABLE' })
    assert.equal(requests.length, 2)
    const long = rejecting(failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '31' }))
    await assert.rejects(clientOf({ fetch: long.fetch }).call('GET /me'), { retryAfterSeconds: 31 })
    assert.equal(long.requests.length, 1)
  })

  test('repeat after a timeout of one attempt', async () => {
    let attempts = 0
    const slow: Fetch = (input, init) => {
      attempts += 1
      return attempts === 1 ? silent(input, init) : fetch(input, init)
    }
    const me = await clientOf({ fetch: slow }).call('GET /me', { timeoutMs: 5_000 })
    assert.deepEqual([me.org.name, attempts], ['Acme', 2])
  })

  test('understand Retry-After as a date', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString()
    const { fetch } = rejecting(failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': date }))
    await assert.rejects(clientOf({ fetch }).call('GET /me'), (error) => {
      assert.ok(isAtriumError(error))
      const seconds = error.retryAfterSeconds ?? 0
      assert.ok(seconds > 30 && seconds <= 60, `${seconds} s`)
      return true
    })
  })
})

test('an ETag of a response makes a change conditional', async () => {
  const { data, etag } = await client.callWithResponse('POST /projects', { body: { name: 'Versioned' } })
  assert.match(etag ?? '', /^".+"$/)
  const params = { id: data.id }
  await client.call('PATCH /projects/:id', { params, body: { name: 'Version 2' }, ifMatch: etag })
  await assert.rejects(client.call('PATCH /projects/:id', { params, body: { name: 'Version 3' }, ifMatch: etag }), {
    code: 'CONFLICT',
  })
  // @ts-expect-error -- a list has no version
  void (() => client.call('GET /projects', { ifMatch: etag }))
})

describe('a list', () => {
  const names = ['a', 'b', 'c', 'd', 'e']

  test('returns the items of all pages once, and loads a page only when it is needed', async () => {
    const { file: folder } = await client.call('POST /files', { body: { source: 'folder', name: 'Paged' } })
    for (const name of names) {
      await client.call('POST /files', { body: { source: 'folder', name, parentId: folder.id } })
    }
    const { requests, fetch } = recording()
    const paged = clientOf({ fetch })
    const query = { parentId: folder.id, limit: 2 }
    const found: string[] = []
    for await (const { name } of listItems(paged, 'GET /files', { query })) found.push(name)
    assert.deepEqual([found, requests.length], [names, 3])
    for await (const { items, total } of listPages(paged, 'GET /files', { query })) {
      assert.deepEqual([items.map(({ name }) => name), total], [['a', 'b'], 5])
      break
    }
    assert.equal(requests.length, 4)
  })

  test('of events ends at the last one, although its cursor continues', async () => {
    const types: string[] = []
    for await (const { type } of listItems(client, 'GET /events', { query: { types: 'project.*', limit: 1 } })) {
      types.push(type)
    }
    assert.ok(types.length > 1)
    assert.ok(types.every((type) => type.startsWith('project.')))
  })

  test('fails with the error of the page', async () => {
    const id = '01900000-0000-7000-8000-000000000000'
    const list = listItems(client, 'GET /sessions/:id/messages', { params: { id } })
    await assert.rejects(list.next(), { code: 'NOT_FOUND' })
  })
})
