import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { Type } from 'typebox'
import { openSocket, parseAnswers, sendRaw } from '../../../test/support/raw-http.ts'
import type { RawAnswer } from '../../../test/support/raw-http.ts'
import { decodeCursor } from './cursor.ts'
import { sendResource } from './etag.ts'
import { createHttp, jsonBodyLimitBytes, originOf } from './http.ts'
import type { HttpOptions } from './http.ts'
import { createLog } from '../process/log.ts'
import { IdParams, ListQuery, Patch } from './schemas.ts'

const id = '019aa3f0-0000-7000-8000-000000000001'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A listening server with a route of every kind and nothing behind it. */
const startServer = async (options: Partial<HttpOptions> = {}) => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const app = createHttp({ log, production: true, trustProxy: false, ...options })
  app.get('/things', { schema: { querystring: ListQuery } }, (request) => {
    if (request.query.cursor !== undefined) decodeCursor(request.query.cursor, ['timestamp', 'uuid'])
    return { success: true, query: request.query }
  })
  app.post('/things', { schema: { body: Type.Object({ name: Type.String({ maxLength: 5 }) }) } }, (request) => ({
    success: true,
    body: request.body,
  }))
  const Named = Type.Object({ name: Type.String() })
  const schema = { body: Type.Union([Named, Type.Object({ size: Type.Integer() })]) }
  app.post('/api/v1/things', { schema }, ({ body }) => ({ success: true, body }))
  app.post('/anything', (request) => ({ success: true, body: request.body ?? null }))
  app.get('/things/:id', { config: { what: 'Thing' }, schema: { params: IdParams } }, (request, reply) =>
    sendResource(request, reply, { id: request.params.id, revision: 3 }),
  )
  app.patch(
    '/things/:id',
    { schema: { params: IdParams, body: Patch(Type.Object({ name: Type.String() })) } },
    (request) => ({ success: true, body: request.body }),
  )
  app.get('/links/:id', { config: { what: 'Link', malformedId: 'BAD_REQUEST' }, schema: { params: IdParams } }, () => ({
    success: true,
  }))
  app.get('/by-slug/:slug', { config: { what: 'Page' } }, (request) => ({ success: true, params: request.params }))
  app.get('/origin', (request) => ({ success: true, origin: originOf(request, undefined), ip: request.ip }))
  app.get('/old', { config: { deprecated: { since: '2026-11-01', sunset: '2027-11-01' } } }, () => ({ success: true }))
  app.get('/crash', (_request, reply) => {
    reply.header('etag', '"1"').header('content-disposition', 'attachment').header('cache-control', 'public')
    throw new Error('the secret reason')
  })
  app.get('/rejected/:state', (request) => {
    const { state } = request.params as { state: string }
    throw Object.assign(new pg.DatabaseError('a detail of the table', 1, 'error'), { code: state })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => app.close())
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  return { app, lines, url: `http://127.0.0.1:${address.port}` }
}

const server = await startServer()

/** Asserts the failure envelope and all that travels with it. */
const assertFailure = (answer: RawAnswer, status: number, code: string): void => {
  assert.equal(answer.status, status, answer.body)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  assert.match(answer.headers['x-request-id'] ?? '', uuid)
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  const body = JSON.parse(answer.body) as { success: boolean; error: { code: string; message: string } }
  assert.deepEqual(Object.keys(body), ['success', 'error'])
  assert.deepEqual(Object.keys(body.error), ['code', 'message'])
  assert.equal(body.success, false)
  assert.equal(body.error.code, code)
  assert.ok(body.error.message.length > 5 && body.error.message.length < 300)
}

interface Sent {
  headers?: Record<string, string>
  body?: string | Buffer
}

/** One request on a connection of its own, byte for byte as given. */
const send = async (method: string, path: string, { headers = {}, body }: Sent = {}): Promise<RawAnswer> => {
  const fields: Record<string, string> = { host: 'atrium.test', connection: 'close', ...headers }
  if (body !== undefined && fields['content-length'] === undefined && fields['transfer-encoding'] === undefined) {
    fields['content-length'] = String(Buffer.byteLength(body))
  }
  const head = `${method} ${path} HTTP/1.1\r\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
  const [answer, ...more] = await sendRaw(server.url, Buffer.concat([Buffer.from(head), Buffer.from(body ?? '')]))
  assert.ok(answer, 'a response')
  assert.deepEqual(more, [])
  return answer
}

const json = (body: string | Buffer, headers: Record<string, string> = {}): Sent => ({
  headers: { 'content-type': 'application/json', ...headers },
  body,
})

describe('routes', () => {
  test('an unknown route is NOT_FOUND', async () => {
    const answer = await send('GET', '/nowhere')
    assertFailure(answer, 404, 'NOT_FOUND')
    assert.equal(answer.headers['allow'], undefined)
  })

  test('a person who opens an unknown path in a browser gets a page that says nothing about the request', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' }
    const program = await send('GET', '/nowhere')
    const answer = await send('GET', '/nowhere/%3Cscript%3E?q=secret', { headers })
    assert.equal(answer.status, 404)
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    assert.match(answer.body, /<h1>Page not found<\/h1>/)
    assert.doesNotMatch(answer.body, /nowhere|script|secret/)
    const policy = answer.headers['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'none'$/)
    assert.doesNotMatch(policy, /unsafe|script-src/)
    for (const name of ['cache-control', 'referrer-policy', 'x-content-type-options'])
      assert.equal(answer.headers[name], program.headers[name], name)
    const head = await send('HEAD', '/nowhere', { headers })
    assert.deepEqual([head.status, head.body], [404, ''])
  })

  test('the page of an unknown path is in the language that the browser prefers, and errors of the API are in English', async () => {
    const languageOf = async (preferred: string) => {
      const headers = { accept: 'text/html', 'accept-language': preferred }
      const { headers: got, body } = await send('GET', '/nowhere', { headers })
      assert.equal(got['vary'], 'accept-language')
      return [got['content-language'], /<html lang="(\w+)">.*<h1>([^<]*)<\/h1>/s.exec(body)?.slice(1).join(' ')]
    }
    assert.deepEqual(await languageOf('fr, de-AT;q=0.8, en;q=0.5'), ['de', 'de Seite nicht gefunden'])
    for (const preferred of ['en-GB,de;q=0.9', 'fr', '"><script>', ';q=2,,'])
      assert.deepEqual(await languageOf(preferred), ['en', 'en Page not found'], preferred)
    const program = await send('GET', '/api/v1/nowhere', { headers: { 'accept-language': 'de' } })
    assertFailure(program, 404, 'NOT_FOUND')
    assert.doesNotMatch(program.body, /nicht/)
  })

  test('an unknown path of the API, a write and a request of a script get JSON whatever they accept', async () => {
    const headers = { accept: 'text/html,*/*' }
    const paths = ['/api', '/api/v1/nowhere', '/api/v2/things?page=1', '/.well-known/nowhere']
    for (const path of paths) assertFailure(await send('GET', path, { headers }), 404, 'NOT_FOUND')
    assertFailure(await send('POST', '/nowhere', { headers }), 404, 'NOT_FOUND')
    assertFailure(
      await send('GET', '/nowhere', { headers: { ...headers, 'sec-fetch-mode': 'cors' } }),
      404,
      'NOT_FOUND',
    )
    assertFailure(await send('GET', '/nowhere', { headers: { accept: '*/*' } }), 404, 'NOT_FOUND')
  })

  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    test(`${method} on a path with other methods is NOT_FOUND with an Allow header`, async () => {
      const answer = await send(method, '/things')
      assertFailure(answer, 404, 'NOT_FOUND')
      assert.equal(answer.headers['allow'], 'GET, HEAD, POST')
    })
  }

  test('a wrong method on a path with an id has an Allow header', async () => {
    assert.equal((await send('POST', `/things/${id}`, json('{}'))).headers['allow'], 'GET, HEAD, PATCH')
    assert.equal((await send('POST', '/things/%zz', json('{}'))).headers['allow'], 'GET, HEAD, PATCH')
  })

  test('HEAD has the headers of GET and no body', async () => {
    const head = await send('HEAD', `/things/${id}`)
    assert.equal(head.status, 200)
    assert.equal(head.headers['etag'], '"3"')
    assert.equal(head.body, '')
    const missing = await send('HEAD', '/things/nonsense')
    assert.equal(missing.status, 404)
    assert.equal(missing.body, '')
  })

  test('every response has its own request id', async () => {
    const ids = await Promise.all(
      ['/things', '/things', '/nowhere', '/things/nonsense'].map(
        async (path) => (await send('GET', path)).headers['x-request-id'],
      ),
    )
    for (const one of ids) assert.match(one ?? '', uuid)
    assert.equal(new Set(ids).size, ids.length)
    const forced = await send('GET', '/things', { headers: { 'x-request-id': 'chosen' } })
    assert.match(forced.headers['x-request-id'] ?? '', uuid)
  })

  for (const path of [
    '*',
    '/',
    '//',
    '//things',
    '/things/',
    '/./things',
    '/../../etc/passwd',
    '/things;x=1',
    '/THINGS',
  ]) {
    test(`GET ${path} is NOT_FOUND`, async () => assertFailure(await send('GET', path), 404, 'NOT_FOUND'))
  }

  test('a URL in absolute form reaches its route', async () => {
    assert.equal((await send('GET', 'http://atrium.test/things')).status, 200)
  })
})

const slugOf = async (path: string): Promise<string> =>
  (JSON.parse((await send('GET', `/by-slug/${path}`)).body) as { params: { slug: string } }).params.slug

describe('ids in the path', () => {
  const malformed = [
    'nonsense',
    '%',
    '%zz',
    '%00',
    '%ff',
    '%c0%ae',
    '%2e%2e%2f',
    '__proto__',
    `${id}0`,
    '%C3%A4',
    'x'.repeat(600),
  ]
  malformed.push(`${id}%00`, '%ed%a0%80', 'x'.repeat(8_000), '%25'.repeat(500))
  test('a malformed id in the path is the same NOT_FOUND as an unknown one, byte for byte', async () => {
    const bodies = new Set<string>()
    for (const one of malformed) {
      const answer = await send('GET', `/things/${one}`)
      assertFailure(answer, 404, 'NOT_FOUND')
      bodies.add(answer.body)
    }
    assert.deepEqual([...bodies], ['{"success":false,"error":{"code":"NOT_FOUND","message":"Thing not found"}}'])
  })

  test('a malformed id is BAD_REQUEST on routes that declare it', async () => {
    for (const one of ['nonsense', '%zz', '%00', '%ff']) {
      assertFailure(await send('GET', `/links/${one}`), 400, 'BAD_REQUEST')
    }
  })

  test('a path is decoded once, and an invalid encoding is used literally', async () => {
    assert.equal(await slugOf('a%20b'), 'a b')
    assert.equal(await slugOf('a%2520b'), 'a%20b')
    assert.equal(await slugOf('a%2Fb'), 'a/b')
    assert.equal(await slugOf('50%'), '50%')
  })
})

describe('queries', () => {
  const refused = [
    'limit=abc',
    'limit=0',
    'limit=-1',
    'limit=101',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'limit=NaN',
    'limit=Infinity',
    'page=0',
    'page=1e99',
    'page=99999999999999999999',
    'page=null',
    'cursor=',
    'cursor=nonsense',
    'cursor=bnVsbA',
    'cursor=e30',
    'cursor=WyJhIl0',
    'cursor=%00',
    'anything=%00',
    `cursor=${'A'.repeat(2_000)}`,
    'cursor=a&cursor=b',
  ]
  for (const query of refused) {
    test(`the query ?${query.slice(0, 40)} is BAD_REQUEST`, async () => {
      assertFailure(await send('GET', `/things?${query}`), 400, 'BAD_REQUEST')
    })
  }

  const taken = [
    '',
    'limit=100',
    'limit=1&page=1000000000',
    'unknown=1',
    'limit[]=1',
    '%zz',
    'a=%ff',
    '%',
    '&&&==',
    '__proto__=1',
    'constructor=1',
    'a[__proto__][b]=1',
  ]
  for (const query of taken) {
    test(`the query ?${query} is accepted and unknown names are ignored`, async () => {
      const answer = await send('GET', `/things?${query}`)
      assert.equal(answer.status, 200, answer.body)
    })
  }

  test('queries get default values, and numbers are converted', async () => {
    const { body } = await send('GET', '/things?limit=7')
    assert.deepEqual(JSON.parse(body).query, { limit: 7, page: 1 })
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  })

  test('a query of 8 KB is accepted, and a URL beyond the header limit is rejected with the envelope', async () => {
    assert.equal((await send('GET', `/things?x=${'y'.repeat(8_000)}`)).status, 200)
    const answer = await send('GET', `/things?x=${'y'.repeat(20_000)}`)
    assert.equal(answer.status, 431)
    assert.equal(JSON.parse(answer.body).error.code, 'BAD_REQUEST')
  })
})

describe('JSON bodies', () => {
  const refused: [string, string | Buffer][] = [
    ['broken JSON', '{"name":'],
    ['nothing at all', ''],
    ['only white space', '  \n'],
    ['a list', '[]'],
    ['text', '"name"'],
    ['null', 'null'],
    ['a missing field', '{}'],
    ['a field of the wrong type', '{"name":1}'],
    ['a number where text is due, not coerced', '{"name":12345}'],
    ['a field that is too long', '{"name":"123456"}'],
    ['two documents', '{"name":"a"}{"name":"b"}'],
    ['a comment', '{"name":"a"} // b'],
    ['NaN', '{"name":NaN}'],
    ['__proto__', '{"name":"a","__proto__":{"polluted":true}}'],
    ['__proto__ spelled by escapes', String.raw`{"name":"a","\u005f_proto__":{"polluted":true}}`],
    ['constructor.prototype', '{"name":"a","constructor":{"prototype":{"polluted":true}}}'],
    ['__proto__ far inside', '{"name":"a","x":[{"y":{"__proto__":{}}}]}'],
    ['NUL in a value', String.raw`{"name":"a\u0000"}`],
    ['NUL in a name', String.raw`{"name":"a","b\u0000":1}`],
    ['NUL in what nobody reads', String.raw`{"name":"a","x":[{"y":"\u0000"}]}`],
    ['half a surrogate pair', String.raw`{"name":"\ud800"}`],
    ['a surrogate pair the wrong way round', String.raw`{"name":"\udc00\ud800"}`],
    ['a raw NUL', '{"name":"a\0"}'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x6e, 0x61, 0x6d, 0x65, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    [
      'a surrogate as UTF-8',
      Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['an overlong NUL', Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')])],
    ['UTF-16', Buffer.from('{"name":"a"}', 'utf16le')],
    ['10,000 levels of lists', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['10,000 levels of objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['half a million open brackets', '['.repeat(500_000)],
  ]
  for (const [what, body] of refused) {
    test(`${what} is BAD_REQUEST`, async () => {
      assertFailure(await send('POST', '/things', json(body)), 400, 'BAD_REQUEST')
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
    })
  }

  const kept: [string, string][] = [
    ['an emoji by escapes', String.raw`{"name":"\ud83d\ude00"}`],
    ['5 characters outside the basic plane', '{"name":"😀😀😀😀😀"}'],
    ['unknown fields', '{"name":"a","extra":{"deep":[1,2,3]}}'],
    ['the words __proto__ and \\u0000 in text', String.raw`{"name":"a","x":"__proto__ \\u0000"}`],
    ['a constructor without a prototype', '{"name":"a","constructor":1}'],
    ['60 levels', `{"name":"a","x":${'['.repeat(60)}${']'.repeat(60)}}`],
    ['brackets in text', `{"name":"a","x":${JSON.stringify('[{"'.repeat(1_000))}}`],
    ['the same name twice, of which the last counts', '{"name":"toolong","name":"b"}'],
  ]
  for (const [what, body] of kept) {
    test(`a JSON body with ${what} is accepted`, async () => {
      const answer = await send('POST', '/things', json(body))
      assert.equal(answer.status, 200, answer.body)
    })
  }

  test('fields that the schema does not name do not reach a route of the API', async () => {
    const text = '{"name":"a","id":"other","orgId":"other","constructor":1,"hasOwnProperty":1}'
    const { status, body } = await send('POST', '/api/v1/things', json(text))
    assert.equal(status, 200, body)
    assert.deepEqual(JSON.parse(body), { success: true, body: { name: 'a' } })
  })

  test('a body of 1 MB is accepted and one byte more is BAD_REQUEST, with Content-Length and chunked', async () => {
    const fits = `{"a":"${'x'.repeat(jsonBodyLimitBytes - 8)}"}`
    assert.equal(Buffer.byteLength(fits), jsonBodyLimitBytes)
    assert.equal((await send('POST', '/anything', json(fits))).status, 200)
    const over = fits.replace('x', 'xx')
    const answer = await send('POST', '/anything', json(over))
    assertFailure(answer, 400, 'BAD_REQUEST')
    const chunked = `${over.length.toString(16)}\r\n${over}\r\n0\r\n\r\n`
    const byChunk = await send('POST', '/anything', json(chunked, { 'transfer-encoding': 'chunked' }))
    assertFailure(byChunk, 400, 'BAD_REQUEST')
  })

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'nonsense',
    'application/jsonx',
    '',
  ]) {
    test(`a Content-Type of "${type}" is BAD_REQUEST`, async () => {
      assertFailure(await send('POST', '/things', json('{"name":"a"}', { 'content-type': type })), 400, 'BAD_REQUEST')
    })
  }

  test('a body without a Content-Type is BAD_REQUEST', async () => {
    assertFailure(await send('POST', '/things', { body: '{"name":"a"}' }), 400, 'BAD_REQUEST')
  })

  for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset=UTF-8']) {
    test(`a Content-Type of "${type}" is accepted`, async () => {
      assert.equal((await send('POST', '/things', json('{"name":"a"}', { 'content-type': type }))).status, 200)
    })
  }

  test('a PATCH without fields is BAD_REQUEST', async () => {
    assertFailure(await send('PATCH', `/things/${id}`, json('{}')), 400, 'BAD_REQUEST')
  })

  test('a POST that needs no body works without one, with a Content-Type and without', async () => {
    assert.equal((await send('POST', '/anything', { headers: { 'content-length': '0' } })).status, 200)
    assert.equal((await send('POST', '/anything')).status, 200)
    assert.equal((await send('POST', '/anything', json(''))).status, 200)
  })
})

describe('invalid HTTP', () => {
  const garbage: [string, string | Buffer][] = [
    ['noise', 'sdlkfjsdf\r\n\r\n'],
    ['random bytes', Buffer.from([0, 1, 2, 3, 255, 254, 13, 10, 13, 10])],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex')],
    ['an unknown method', 'BREW /things HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['an unknown version', 'GET /things HTTP/9.9\r\nhost: a\r\n\r\n'],
    ['a space in the path', 'GET /a b HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['NUL in a header', 'GET /things HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n'],
    ['a header without a colon', 'GET /things HTTP/1.1\r\nhost a\r\n\r\n'],
    ['a Content-Length that is no number', 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: abc\r\n\r\n'],
    ['a negative Content-Length', 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n'],
    ['two Content-Lengths', 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    [
      'a Content-Length beside chunks (request smuggling)',
      'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a chunk of broken size',
      'POST /things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    ],
    ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ]
  for (const [what, bytes] of garbage) {
    test(`${what} gets the error envelope, and the connection is closed`, async () => {
      const [answer, ...more] = await sendRaw(server.url, bytes)
      assert.ok(answer)
      assertFailure(answer, 400, 'BAD_REQUEST')
      assert.equal(answer.headers['connection'], 'close')
      assert.deepEqual(more, [])
    })
  }

  test('headers beyond 16 KB get the error envelope', async () => {
    const answer = await send('GET', '/things', { headers: { 'x-large': 'y'.repeat(17_000) } })
    assertFailure(answer, 431, 'BAD_REQUEST')
  })

  test('invalid bytes after a request get an error after the response to the request', async () => {
    const socket = await openSocket(server.url)
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
    socket.write('GET /things HTTP/1.1\r\nhost: a\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.write('nonsense\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve))
    const answers = parseAnswers(Buffer.concat(chunks).toString('latin1'))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400],
    )
    assertFailure(answers[1] as RawAnswer, 400, 'BAD_REQUEST')
  })

  test('two pipelined requests get their responses in order', async () => {
    const answers = await sendRaw(
      server.url,
      'GET /things?limit=1 HTTP/1.1\r\nhost: a\r\n\r\nGET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 404],
    )
  })

  test('HTTP/1.1 without Host is BAD_REQUEST, and HTTP/1.0 without Host is accepted', async () => {
    const [answer] = await sendRaw(server.url, 'GET /things HTTP/1.1\r\nconnection: close\r\n\r\n')
    assertFailure(answer as RawAnswer, 400, 'BAD_REQUEST')
    const [old] = await sendRaw(server.url, 'GET /things HTTP/1.0\r\n\r\n')
    assert.equal(old?.status, 200)
  })

  test('two Host headers are BAD_REQUEST, also equal ones', async () => {
    for (const second of ['host: b', 'HOST: a']) {
      const [answer] = await sendRaw(
        server.url,
        `GET /things HTTP/1.1\r\nhost: a\r\n${second}\r\nconnection: close\r\n\r\n`,
      )
      assertFailure(answer as RawAnswer, 400, 'BAD_REQUEST')
    }
  })

  test('an unknown Expect header is ignored, and 100-continue is supported', async () => {
    assert.equal((await send('POST', '/things', json('{"name":"a"}', { expect: 'miracles' }))).status, 200)
    const [first, second] = await sendRaw(
      server.url,
      'POST /things HTTP/1.1\r\nhost: a\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"name":"a"}',
    )
    assert.deepEqual([first?.status, second?.status], [100, 200])
  })

  test('interrupted requests are not logged as server errors', async () => {
    const { lines, url } = await startServer()
    for (const bytes of [
      'GET /thi',
      'POST /things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"na',
      'POST /things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"n',
    ]) {
      for (const end of ['destroy', 'end', 'resetAndDestroy'] as const) {
        const socket = await openSocket(url)
        socket.on('error', () => undefined)
        socket.resume()
        await new Promise((resolve) => socket.write(bytes, resolve))
        socket[end]()
        await new Promise((resolve) => socket.once('close', resolve))
      }
    }
    assert.equal((await fetch(`${url}/things`)).status, 200)
    assert.deepEqual(lines, [])
  })

  test('a small rejected body is read and dropped, and the connection stays open', async () => {
    const answers = await sendRaw(
      server.url,
      'POST /nowhere HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabcGET /things HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 200],
    )
  })

  test('the server does not wait for a large rejected body', async () => {
    const socket = await openSocket(server.url)
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.write('POST /things HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 1000000\r\n\r\nabc')
    await new Promise((resolve) => socket.once('close', resolve))
    const [answer] = parseAnswers(Buffer.concat(chunks).toString('latin1'))
    assertFailure(answer as RawAnswer, 400, 'BAD_REQUEST')
    assert.equal(answer?.headers['connection'], 'close')
  })
})

const strictTransportOf = async (options: Partial<HttpOptions>, headers: Record<string, string> = {}) => {
  const { url } = await startServer(options)
  return (await fetch(`${url}/things`, { headers })).headers.get('strict-transport-security')
}

describe('response headers', () => {
  test('API responses have headers against caching and execution in browsers', async () => {
    for (const path of ['/things', '/nowhere', '/things/nonsense', '/things?limit=0']) {
      const { headers } = await send('GET', path)
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'")
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['strict-transport-security'], undefined)
      assert.equal(headers['access-control-allow-origin'], undefined)
      assert.equal(headers['server'], undefined)
      assert.equal(headers['x-powered-by'], undefined)
    }
  })

  test('a resource with an ETag can be cached and must be revalidated', async () => {
    const first = await send('GET', `/things/${id}`)
    assert.equal(first.headers['cache-control'], 'private, no-cache')
    const again = await send('GET', `/things/${id}`, { headers: { 'if-none-match': first.headers['etag'] ?? '' } })
    assert.equal(again.status, 304)
    assert.equal(again.body, '')
    assert.equal(again.headers['etag'], '"3"')
    assert.equal(again.headers['cache-control'], 'private, no-cache')
  })

  test('an error response has no headers of the body that was not sent', async () => {
    const answer = await send('GET', '/crash')
    assertFailure(answer, 500, 'INTERNAL_ERROR')
    assert.equal(answer.headers['etag'], undefined)
    assert.equal(answer.headers['content-disposition'], undefined)
    assert.equal(answer.headers['cache-control'], 'no-store')
  })

  test('responses have HSTS when the base URL is https or a trusted proxy forwards https', async () => {
    const byHttps = { 'x-forwarded-proto': 'https' }
    assert.equal(await strictTransportOf({ baseUrl: 'https://atrium.example.com' }), 'max-age=31536000')
    assert.equal(await strictTransportOf({ trustProxy: true }, byHttps), 'max-age=31536000')
    assert.equal(await strictTransportOf({ trustProxy: true }, { 'x-forwarded-proto': 'http' }), null)
    assert.equal(await strictTransportOf({ trustProxy: true, baseUrl: 'http://atrium.example.com' }, byHttps), null)
    assert.equal(await strictTransportOf({}, byHttps), null)
  })

  test('a deprecated route sends Deprecation and Sunset headers', async () => {
    const { headers } = await send('GET', '/old')
    assert.equal(headers['deprecation'], '@1793491200')
    assert.equal(headers['sunset'], 'Mon, 01 Nov 2027 00:00:00 GMT')
    assert.equal((await send('GET', '/things')).headers['deprecation'], undefined)
  })

  test('a deprecated route with a sunset in less than 12 months cannot be registered', () => {
    const app = createHttp({ log: createLog('silent'), production: false, trustProxy: false })
    assert.throws(
      () => app.get('/x', { config: { deprecated: { since: '2026-11-02', sunset: '2027-11-01' } } }, () => ({})),
      /12 months/,
    )
  })
})

describe('failures inside', () => {
  test('in production an internal error has a generic message and is logged with its cause', async () => {
    const { lines, url } = await startServer({ production: true })
    const response = await fetch(`${url}/crash`)
    assert.deepEqual(await response.json(), {
      success: false,
      error: { code: 'INTERNAL_ERROR', message: 'Internal server error' },
    })
    assert.equal(lines.length, 1)
    const line = JSON.parse(lines[0] ?? '')
    assert.equal(line.err.message, 'the secret reason')
    assert.equal(line.requestId, response.headers.get('x-request-id'))
    assert.equal(line.route, '/crash')
  })

  test('a request that lost a race with another one is CONFLICT, and its message has no details of tables', async () => {
    const { url } = await startServer()
    for (const state of ['23503', '23505', '40001', '40P01', '55P03']) {
      const response = await fetch(`${url}/rejected/${state}`)
      const { error } = (await response.json()) as { error: { code: string; message: string } }
      assert.deepEqual([response.status, error.code], [409, 'CONFLICT'], state)
      assert.doesNotMatch(error.message, /table/)
    }
  })

  test('in development an internal error has the message of its cause', async () => {
    const { url } = await startServer({ production: false })
    const body = (await (await fetch(`${url}/crash`)).json()) as { error: { message: string } }
    assert.equal(body.error.message, 'the secret reason')
  })
})

const originWith = async (url: string, headers: Record<string, string>): Promise<string> => {
  const fields = Object.entries({ host: 'atrium.test:8080', connection: 'close', ...headers })
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const [answer] = await sendRaw(url, `GET /origin HTTP/1.1\r\n${head}\r\n`)
  const body = JSON.parse(answer?.body ?? '{}') as { origin?: string; ip?: string; error?: { code: string } }
  return body.error ? body.error.code : `${body.origin} ${body.ip}`
}

describe('the origin of a request', () => {
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'public.test',
    'x-forwarded-for': '203.0.113.1, 198.51.100.7',
  }

  test('the origin of a request is its Host, and forwarded headers are ignored without a trusted proxy', async () => {
    assert.equal(await originWith(server.url, {}), 'http://atrium.test:8080 127.0.0.1')
    assert.equal(await originWith(server.url, forwarded), 'http://atrium.test:8080 127.0.0.1')
  })

  test('behind a trusted proxy the origin and the address come from the forwarded headers', async () => {
    const { url } = await startServer({ trustProxy: true })
    assert.equal(await originWith(url, forwarded), 'https://public.test 198.51.100.7')
  })

  test('an invalid Host header is rejected and not used in URLs', async () => {
    for (const host of ['evil.test/path', 'a b', '"><script>', 'user@evil.test', '']) {
      assert.equal(await originWith(server.url, { host }), 'BAD_REQUEST', host)
    }
    assert.equal(await originWith(server.url, { host: '[::1]:3000' }), 'http://[::1]:3000 127.0.0.1')
  })
})
