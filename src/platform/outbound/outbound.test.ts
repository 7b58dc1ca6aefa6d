import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ApiError } from '../http/errors.ts'
import { createOutbound, OutboundError } from './outbound.ts'
import type { Outbound, OutboundFailure, OutboundOptions, Resolved } from './outbound.ts'
import { parseCidr } from './public-addresses.ts'

const opened: Outbound[] = []
const servers: Server[] = []
after(async () => {
  for (const outbound of opened) await outbound.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

const outboundTo = (options: OutboundOptions = {}): Outbound => {
  const outbound = createOutbound(options)
  opened.push(outbound)
  return outbound
}

const loopback = [parseCidr('127.0.0.0/8')!]
const limits = { timeoutMs: 60_000, maxBytes: 16_384 }

/** A server on loopback that counts who connects, and what arrives. */
const listen = async (answer: RequestListener = (_request, response) => response.end('hello'), host = '127.0.0.1') => {
  const requests: IncomingMessage[] = []
  let connections = 0
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  server.on('connection', () => (connections += 1))
  server.listen(0, host)
  servers.push(server)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, requests, connections: () => connections }
}

const failure = async (work: Promise<unknown>): Promise<OutboundFailure> => {
  const error: unknown = await work.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof OutboundError, String(error))
  return error.reason
}

const answering = (...addresses: string[]): Resolved[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

describe('requests to private addresses', () => {
  test('a request to a private address does not connect, in every notation of the address', async () => {
    const server = await listen()
    const outbound = outboundTo()
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '0177.0.0.1',
      '2130706433',
      '0.0.0.0',
      '127.0.0.1.',
      '%31%32%37.0.0.1',
      '①②⑦.0.0.1',
      '[::1]',
      '[::]',
      '[::127.0.0.1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::127.0.0.1]',
      '[2002:7f00:1::]',
      'localhost',
      'LOCALHOST',
      'localhost.',
      'app.localhost',
      'metadata.google.internal',
      'printer.local',
      'postgres',
      '169.254.169.254',
      '10.0.0.1',
      '[fd00:ec2::254]',
    ]) {
      assert.equal(await failure(outbound.request(`http://${host}:${server.port}/`, limits)), 'blocked', host)
    }
    assert.equal(server.connections(), 0)
  })

  test('a request is rejected when one of several addresses of the name is private', async () => {
    const server = await listen()
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8'], ['::ffff:127.0.0.1']]) {
      const outbound = outboundTo({ resolve: async () => answering(...addresses) })
      assert.equal(
        await failure(outbound.request(`http://hooks.example.com:${server.port}/`, limits)),
        'blocked',
        addresses.join(),
      )
    }
    assert.equal(server.connections(), 0)
  })

  test('a request is rejected when the name resolves to a public address first and a private one later', async () => {
    const inside = await listen()
    const outside = await listen(undefined, '127.0.0.2')
    // 127.0.0.2 stands for the Internet here.
    const rebinding = ['127.0.0.2', '127.0.0.1']
    let asked = 0
    const outbound = outboundTo({
      allowCidrs: [parseCidr('127.0.0.2/32')!],
      resolve: async () => answering(rebinding[asked++] ?? '127.0.0.1'),
    })
    const to = (port: number) => outbound.request(`http://rebind.example.com:${port}/`, limits)
    assert.equal((await to(outside.port)).status, 200)
    assert.equal(asked, 1, 'one look-up a connection: what was checked is what was connected to')
    assert.equal(await failure(to(inside.port)), 'blocked')
    assert.equal(inside.connections(), 0)
  })

  test('a redirect to a private address is not followed', async () => {
    const inside = await listen()
    const outside = await listen((_request, response) => response.writeHead(302, { location: inside.url }).end())
    const outbound = outboundTo({ allowCidrs: loopback })
    const answer = await outbound.request(outside.url, limits)
    assert.equal(answer.status, 302)
    assert.equal((await outbound.fetch(outside.url)).status, 302)
    assert.equal(inside.connections(), 0)
  })

  test('a request to a range in OUTBOUND_ALLOW_CIDRS is allowed on every port', async () => {
    const server = await listen()
    const outbound = outboundTo({ allowCidrs: loopback, resolve: async () => answering('127.0.0.1') })
    assert.equal((await outbound.request(server.url, limits)).body.toString(), 'hello')
    assert.equal((await outbound.request(`http://intranet:${server.port}/`, limits)).body.toString(), 'hello')
    assert.equal(await failure(outbound.request('http://127.0.0.1:1/', limits)), 'connection_refused')
    assert.equal(await failure(outbound.request('http://[::1]/', limits)), 'blocked')
  })

  test('a trusted request may go to a private address', async () => {
    const server = await listen()
    const answer = await outboundTo().request(server.url, { ...limits, trusted: true })
    assert.equal(answer.body.toString(), 'hello')
  })
})

describe('a URL', () => {
  const outbound = outboundTo({ resolve: async () => answering('93.184.215.14') })
  const codes: [string, OutboundFailure][] = [
    ['ftp://example.com/', 'invalid_url'],
    ['file:///etc/passwd', 'invalid_url'],
    ['javascript:alert(1)', 'invalid_url'],
    ['//example.com/', 'invalid_url'],
    ['example.com', 'invalid_url'],
    ['', 'invalid_url'],
    ['https://user@example.com/', 'invalid_url'],
    ['https://user:password@example.com/', 'invalid_url'],
    ['http://example.com:22/', 'blocked'],
    ['http://example.com:25/', 'blocked'],
    ['http://8.8.8.8:53/', 'blocked'],
    ['https://example.com:1023/', 'blocked'],
  ]
  for (const [url, reason] of codes) {
    test(`the URL ${JSON.stringify(url)} is rejected when it is stored and when it is requested`, async () => {
      assert.equal(await failure(outbound.request(url, limits)), reason)
      await assert.rejects(outbound.checkUrl(url), (error) => error instanceof ApiError && error.code === 'BAD_REQUEST')
    })
  }

  test('a public URL with an allowed port can be stored', async () => {
    for (const url of [
      'https://example.com',
      'http://example.com:80/',
      'https://example.com:8443/a?b=c#d',
      'http://8.8.8.8:1024/',
      'https://[2606:4700:4700::1111]/',
    ]) {
      assert.equal((await outbound.checkUrl(url)).href, new URL(url).href)
    }
  })

  test('a URL whose name resolves to a private address cannot be stored', async () => {
    for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1']) {
      const inside = outboundTo({ resolve: async () => answering(address) })
      await assert.rejects(inside.checkUrl('https://hooks.example.com/'), { code: 'BAD_REQUEST' })
    }
  })

  test('a URL can be stored while its name does not resolve', async () => {
    const failing = outboundTo({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    await failing.checkUrl('https://hooks.example.com/')
    assert.equal(await failure(failing.request('https://hooks.example.com/', limits)), 'dns_error')
    const silent = outboundTo({ resolve: () => new Promise(() => undefined) })
    await silent.checkUrl('https://hooks.example.com/')
  })
})

describe('responses', () => {
  const outbound = outboundTo({ allowCidrs: loopback })

  test('a response has its status, headers and body for every status', async () => {
    const server = await listen((_request, response) => {
      response.writeHead(503, [
        ['X-One', '1'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ])
      response.end('away')
    })
    const answer = await outbound.request(server.url, { ...limits, method: 'POST', body: 'x', headers: { 'x-a': 'b' } })
    assert.equal(answer.status, 503)
    assert.equal(answer.headers['x-one'], '1')
    assert.equal(answer.headers['set-cookie'], 'a=1, b=2')
    assert.equal(answer.body.toString(), 'away')
    assert.equal(answer.truncated, false)
    assert.equal(server.requests[0]?.method, 'POST')
    assert.equal(server.requests[0]?.headers['x-a'], 'b')
  })

  test('a response is read up to maxBytes and marked as truncated', async () => {
    let written = 0
    const server = await listen((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && written < 1e9 && response.write(Buffer.alloc(65_536, 'x'))) written += 65_536
      }
      response.on('drain', more)
      more()
    })
    const answer = await outbound.request(server.url, limits)
    assert.equal(answer.body.length, limits.maxBytes)
    assert.equal(answer.truncated, true)
    assert.ok(written < 1e8, `${written} bytes`)
  })

  test('a response of exactly maxBytes is complete', async () => {
    const server = await listen((_request, response) => response.end(Buffer.alloc(limits.maxBytes)))
    const answer = await outbound.request(server.url, limits)
    assert.equal(answer.body.length, limits.maxBytes)
    assert.equal(answer.truncated, false)
  })

  test('a compressed response is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const server = await listen((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    assert.deepEqual((await outbound.request(server.url, limits)).body, bomb)
    assert.equal(await failure(outbound.fetch(server.url)), 'network_error')
    assert.equal(server.requests[0]?.headers['accept-encoding'], 'identity')
    assert.equal(server.requests[1]?.headers['accept-encoding'], 'identity')
  })

  test('a response that exceeds the deadline fails, before its headers and within its body', async () => {
    const silent = await listen(() => undefined)
    const dripping = await listen((_request, response) => response.write('a'))
    for (const { url } of [silent, dripping]) {
      assert.equal(await failure(outbound.request(url, { ...limits, timeoutMs: 100 })), 'timeout')
    }
    // The deadline holds while the connection is made, too: this one would never end.
    const unresolved = outboundTo({ resolve: () => new Promise(() => undefined) })
    assert.equal(await failure(unresolved.request('http://a.example.com/', { ...limits, timeoutMs: 100 })), 'timeout')
  })

  test('an interrupted response and a response that is not HTTP fail', async () => {
    const cut = await listen((request) => request.socket.destroy())
    assert.equal(await failure(outbound.request(cut.url, limits)), 'connection_reset')
    const garbage = await listen((request) => request.socket.end('SSH-2.0-OpenSSH\r\n'))
    assert.equal(await failure(outbound.request(garbage.url, limits)), 'network_error')
    const plain = await listen()
    assert.equal(await failure(outbound.request(`https://127.0.0.1:${plain.port}/`, limits)), 'tls_error')
  })

  test("a request rejects with the caller's reason when the caller aborts it", async () => {
    const silent = await listen(() => undefined)
    const abort = new AbortController()
    const asked = outbound.request(silent.url, { ...limits, signal: abort.signal })
    const reason = new Error('stopping')
    setTimeout(() => abort.abort(reason), 20)
    await assert.rejects(asked, reason)
  })

  test('a response of outbound.fetch that is cancelled, or has no body, does not end the process', async () => {
    const outbound = outboundTo({ allowCidrs: loopback })
    const answers: Record<string, RequestListener> = {
      '/empty': (_request, response) => void response.end(),
      '/small': (_request, response) => void response.end('hello'),
      '/large': (_request, response) => void response.end(Buffer.alloc(1_000_000)),
      '/none': (_request, response) => void response.writeHead(204).end(),
    }
    const server = await listen((request, response) => answers[request.url ?? '']?.(request, response))
    for (const path of Object.keys(answers)) {
      const answer = await outbound.fetch(server.url + path)
      await answer.body?.cancel()
      assert.equal(answer.body === null, path === '/none')
    }
    // The client is still usable, and the unread bodies have ended.
    assert.equal(await (await outbound.fetch(`${server.url}/small`)).text(), 'hello')
  })

  test('outbound.fetch fails when the server closes the connection in the middle of the body', async () => {
    const server = await listen((_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('hello', () => response.destroy())
    })
    const answer = await outboundTo({ allowCidrs: loopback }).fetch(server.url)
    await assert.rejects(answer.text())
  })

  test('a slow reader of outbound.fetch makes the server wait', async () => {
    const chunk = Buffer.alloc(65_536)
    let sent = 0
    const server = await listen((_request, response) => {
      const write = (): void => {
        while (sent < 1_000) {
          sent += 1
          if (!response.write(chunk)) break
        }
        if (sent === 1_000) response.end()
        else response.once('drain', write)
      }
      write()
    })
    const answer = await outboundTo({ allowCidrs: loopback }).fetch(server.url)
    const reader = answer.body!.getReader()
    await reader.read()
    // What the kernel and both clients buffer is a few megabytes; the response has 64 MB.
    let before = -1
    while (before !== sent) {
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    assert.ok(sent < 500, `${sent} chunks`)
    await reader.cancel()
  })

  test('outbound.fetch streams the response', async () => {
    const server = await listen((_request, response) => response.end('one two'))
    const answer = await outbound.fetch(new URL(server.url), { method: 'POST', body: 'x', headers: { 'x-a': 'b' } })
    assert.equal(await answer.text(), 'one two')
    assert.equal(server.requests[0]?.headers['x-a'], 'b')
    assert.equal(await failure(outboundTo().fetch(server.url)), 'blocked')
  })

  test('a request to a name with several addresses uses one that responds', async () => {
    const server = await listen()
    const several = outboundTo({ allowCidrs: loopback, resolve: async () => answering('127.0.0.9', '127.0.0.1') })
    const answer = await several.request(`http://hooks.example.com:${server.port}/`, limits)
    assert.equal(answer.status, 200)
  })
})
