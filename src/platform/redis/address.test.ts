import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseRedisUrl } from './address.ts'

describe('the URL of Redis', () => {
  test('a plain URL names one server', () => {
    for (const url of ['redis://host:6379', 'rediss://user:pass@host/3']) {
      assert.deepEqual(parseRedisUrl(url), { kind: 'single', url })
    }
  })

  test('a cluster has several servers, with 6379 as the default port and percent-encoded credentials', () => {
    const { dnsLookup, ...address } = parseRedisUrl('redis+cluster://me:p%40ss@a:7000,b,[::1]:7002') as {
      dnsLookup: unknown
    }
    assert.equal(dnsLookup, undefined)
    assert.deepEqual(address, {
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7_000 },
        { host: 'b', port: 6_379 },
        { host: '::1', port: 7_002 },
      ],
      options: { username: 'me', password: 'p@ss' },
    })
  })

  test('a cluster with TLS keeps the names of its servers, because certificates contain names', () => {
    const address = parseRedisUrl('rediss+cluster://:secret@cluster.example.com:6379')
    assert.ok(address?.kind === 'cluster')
    assert.deepEqual(address.options, { password: 'secret', tls: {} })
    const looked: unknown[] = []
    address.dnsLookup?.('node-1.example.com', (error, name) => looked.push(error, name))
    assert.deepEqual(looked, [null, 'node-1.example.com'])
  })

  test('a URL of Sentinel names the primary, a database and the password of Sentinel', () => {
    assert.deepEqual(parseRedisUrl('redis+sentinel://:pw@s1:26379,s2/main/2?sentinelPassword=x%20y'), {
      kind: 'sentinel',
      options: {
        password: 'pw',
        sentinels: [
          { host: 's1', port: 26_379 },
          { host: 's2', port: 26_379 },
        ],
        name: 'main',
        db: 2,
        sentinelPassword: 'x y',
      },
    })
  })

  test('anything else is rejected', () => {
    const urls = [
      'localhost:6379',
      'http://localhost',
      'redis+cluster://',
      'redis+cluster://a,,b',
      'redis+cluster://a:0',
      'redis+cluster://a:70000',
      'redis+cluster://a/0',
      'redis+cluster://%:%@a',
      'redis+sentinel://a:26379',
      'redis+sentinel://a/name/db',
      'redis://a:6379,b:6379',
    ]
    for (const url of urls) assert.equal(parseRedisUrl(url), undefined, url)
  })
})
