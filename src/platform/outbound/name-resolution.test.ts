import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startNameServer } from '../../../test/fakes/name-server.ts'
import type { NameAnswer } from '../../../test/fakes/name-server.ts'
import { createNameResolution, parseHosts } from './name-resolution.ts'
import { createOutbound, OutboundError } from './outbound.ts'
import { parseCidr } from './public-addresses.ts'

const directory = await mkdtemp(join(tmpdir(), 'atrium-hosts-'))
const hostsPath = join(directory, 'hosts')
await writeFile(hostsPath, '127.0.0.1 localhost\n127.0.0.7 printer.example printer # the office\n::1 printer.example\n')

const addresses = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `127.${first}.${Math.floor(index / 250)}.${(index % 250) + 1}`)

const known: Record<string, NameAnswer> = {
  'good.example.com': { addresses: ['127.0.0.1'] },
  'empty.example.com': {},
  'away.example.com': { code: 'SERVFAIL' },
  'loop.example.com': { cname: 'loop.example.com' },
  'alias.example.com': { cname: 'real.example.com', addresses: ['127.0.0.3'] },
  'many.example.com': { addresses: addresses(9, 1_000), truncated: true },
  'broken.example.com': { garbage: true },
}
const nameServer = await startNameServer((name) => (name.endsWith('.slow.example') ? { silent: true } : known[name]))
const servers = [nameServer.address]
const resolve = createNameResolution({ servers, hostsPath })

const target = createServer((_request, response) => response.end('hello'))
target.listen(0, '127.0.0.1')
await once(target, 'listening')
const { port } = target.address() as AddressInfo

after(async () => {
  await nameServer.close()
  target.closeAllConnections()
  target.close()
  await rm(directory, { recursive: true })
})

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )

describe('a name', () => {
  test('a name in the hosts file is resolved without a name server', async () => {
    const before = nameServer.asked.length
    assert.deepEqual(await resolve('Printer.Example.'), [
      { address: '127.0.0.7', family: 4 },
      { address: '::1', family: 6 },
    ])
    assert.deepEqual(await resolve('printer'), [{ address: '127.0.0.7', family: 4 }])
    assert.deepEqual(await resolve('localhost'), [{ address: '127.0.0.1', family: 4 }])
    assert.equal((await resolve('app.localhost')).length, 2)
    assert.equal(nameServer.asked.length, before)
  })

  test('a name is resolved when there is no hosts file', async () => {
    const without = createNameResolution({ servers, hostsPath: join(directory, 'missing') })
    assert.deepEqual(await without('good.example.com'), [{ address: '127.0.0.1', family: 4 }])
    assert.equal((await without('localhost')).length, 2)
  })

  test('an unknown name, a name without address and a failing name server are errors', async () => {
    assert.equal(await codeOf(resolve('unknown.example.com')), 'ENOTFOUND')
    assert.equal(await codeOf(resolve('empty.example.com')), 'ENODATA')
    assert.equal(await codeOf(resolve('away.example.com')), 'ESERVFAIL')
  })

  test('a CNAME is resolved to the addresses of its target', async () => {
    assert.deepEqual(await resolve('alias.example.com'), [{ address: '127.0.0.3', family: 4 }])
  })

  test('a CNAME loop is an error without repeated queries', async () => {
    const before = nameServer.asked.length
    await codeOf(resolve('loop.example.com'))
    assert.ok(nameServer.asked.length - before <= 4, `${nameServer.asked.length - before} queries`)
  })

  test('a truncated response is repeated over TCP, and of a thousand addresses only some are used', async () => {
    const found = await resolve('many.example.com')
    assert.equal(found.length, 32)
    assert.ok(found.every(({ address, family }) => address.startsWith('127.9.') && family === 4))
  })

  test('an invalid response of the name server is an error', async () => {
    await codeOf(resolve('broken.example.com'))
  })

  test('a silent name server is an error within the time limit of the look-up', async () => {
    const impatient = createNameResolution({ servers, hostsPath, timeoutMs: 200 })
    assert.equal(await codeOf(impatient('a.slow.example')), 'ECANCELLED')
    // Two servers of which each is asked twice for both families: one limit for all of it.
    const twice = createNameResolution({ servers: [...servers, ...servers], hostsPath, timeoutMs: 200 })
    assert.equal(await codeOf(twice('b.slow.example')), 'ECANCELLED')
  })
})

test('parseHosts ignores comments and lines without an address', () => {
  assert.deepEqual(
    [...parseHosts('# 10.0.0.1 a\n10.0.0.2\tb  c\nnonsense d\n\n fe80::1 b\r\n')],
    [
      [
        'b',
        [
          { address: '10.0.0.2', family: 4 },
          { address: 'fe80::1', family: 6 },
        ],
      ],
      ['c', [{ address: '10.0.0.2', family: 4 }]],
    ],
  )
})

describe('outbound requests', () => {
  const allowCidrs = [parseCidr('127.0.0.0/8')!]
  const limits = { timeoutMs: 30_000, maxBytes: 1_000 }

  test('requests of other orgs succeed while one org requests 400 hosts with a silent name server', async () => {
    const underWay = new Map<string, number>()
    const most = new Map<string, number>()
    const outbound = createOutbound({
      allowCidrs,
      resolve: async (name) => {
        const kind = name.endsWith('.slow.example') ? 'slow' : 'good'
        const count = (underWay.get(kind) ?? 0) + 1
        underWay.set(kind, count)
        most.set(kind, Math.max(count, most.get(kind) ?? 0))
        try {
          return await resolve(name)
        } finally {
          underWay.set(kind, (underWay.get(kind) ?? 1) - 1)
        }
      },
    })
    const gone = new AbortController()
    const slow = Array.from({ length: 400 }, (_, index) =>
      outbound.request(`http://h${index}.slow.example:${port}/`, { ...limits, orgId: 'slow', signal: gone.signal }),
    )
    const outcomes = Promise.allSettled(slow)
    let ended = 0
    for (const one of slow)
      one.then(
        () => (ended += 1),
        (error) => (ended += error instanceof OutboundError ? 1 : 0),
      )
    const others = Array.from({ length: 20 }, (_, index) =>
      outbound.request(`http://good.example.com:${port}/${index}`, { ...limits, orgId: `other ${index}` }),
    )
    for (const answer of await Promise.all(others)) assert.equal(answer.status, 200)
    const fetched = await outbound.fetch(`http://good.example.com:${port}/fetch`, { orgId: 'other fetch' })
    assert.equal(await fetched.text(), 'hello')
    await outbound.checkUrl(`http://good.example.com:${port}/check`, { orgId: 'other check' })
    assert.equal(most.get('slow'), 8, 'look-ups of one domain under way')
    assert.ok(ended < 400, 'the slow ones were still waiting when all others had their answers')
    gone.abort(new Error('the test is over'))
    await outcomes
    await outbound.close()
  })

  test('requests of an org succeed while names of one domain, and one name, do not respond', async () => {
    const asked: string[] = []
    const outbound = createOutbound({
      allowCidrs,
      resolve: (name) => {
        asked.push(name)
        return name.endsWith('.slow.example') ? new Promise(() => undefined) : resolve(name)
      },
    })
    const gone = new AbortController()
    const slow = Array.from({ length: 100 }, (_, index) =>
      outbound.request(`http://${index < 50 ? 'same' : `h${index}`}.slow.example:${port}/`, {
        ...limits,
        orgId: 'org',
        signal: gone.signal,
      }),
    )
    const outcomes = Promise.allSettled(slow)
    const answer = await outbound.request(`http://good.example.com:${port}/`, { ...limits, orgId: 'org' })
    assert.equal(answer.status, 200)
    assert.equal(asked.filter((name) => name === 'same.slow.example').length, 1)
    gone.abort(new Error('the test is over'))
    await outcomes
    await outbound.close()
  })

  test('requests beyond the limit of waiting look-ups are rejected for that org only', async () => {
    const outbound = createOutbound({ allowCidrs, resolve: () => new Promise(() => undefined) })
    const gone = new AbortController()
    const all = Array.from({ length: 300 }, async (_, index) => {
      const url = `http://h${index}.slow.example:${port}/`
      try {
        await outbound.request(url, { ...limits, orgId: 'slow', signal: gone.signal })
        return 'answered'
      } catch (error) {
        return error instanceof OutboundError ? error.reason : 'given up'
      }
    })
    const first = await Promise.race(all)
    assert.equal(first, 'dns_error')
    gone.abort(new Error('the test is over'))
    const reasons = await Promise.all(all)
    assert.equal(reasons.filter((reason) => reason === 'dns_error').length, 300 - 8 - 192)
    await outbound.close()
  })

  test('name look-ups do not use the threads of file operations', async () => {
    const outbound = createOutbound({ allowCidrs })
    const kinds: string[] = []
    const hook = createHook({ init: (_id, type) => void kinds.push(type) }).enable()
    const answer = await outbound.request(`http://localhost:${port}/`, limits)
    hook.disable()
    assert.equal(answer.status, 200)
    assert.ok(kinds.includes('TCPCONNECTWRAP'))
    assert.ok(!kinds.includes('GETADDRINFOREQWRAP'))
    await outbound.close()
  })
})
