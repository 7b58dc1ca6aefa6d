import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, parseConfig, variables } from './config.ts'
import type { Variable } from './values.ts'
import { generateKey } from '../platform/key-format.ts'

const mistakesOf = (env: NodeJS.ProcessEnv): string[] => {
  try {
    parseConfig(env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    assert.equal(error.message, error.mistakes.join('\n'))
    return error.mistakes
  }
}

describe('the environment', () => {
  test('an empty environment is valid: every variable has a default', () => {
    const config = parseConfig({})
    assert.equal(config.environment, 'development')
    assert.equal(config.keyEnvironment, 'dev')
    assert.equal(config.host, '127.0.0.1')
    assert.equal(config.port, 3000)
    assert.match(config.dataDir, /^\/.*\.atrium$/)
    assert.equal(config.databaseUrl, undefined)
    assert.equal(config.s3, undefined)
    assert.deepEqual(config.rateLimits, {
      reads: 600,
      writes: 120,
      uploads: 60,
      turns: 60,
      keyMinting: 5,
      deposits: 10,
      receive: 600,
      signIn: 10,
    })
  })

  test('every default is a valid value of its variable', () => {
    for (const [name, { fallback }] of Object.entries(variables) as [string, Variable][]) {
      if (fallback !== '') assert.deepEqual(mistakesOf({ [name]: fallback }), [], name)
    }
  })

  test('empty and blank variables count as unset, and white space around values is removed', () => {
    assert.deepEqual(parseConfig({ PORT: '', HOST: '  ', BASE_URL: '', S3_ENDPOINT: '' }), parseConfig({}))
    assert.equal(parseConfig({ PORT: ' 8080 ' }).port, 8080)
  })

  test('parseConfig reports every error, each on one line with the name of its variable', () => {
    const env = {
      NODE_ENV: 'prod',
      PORT: '65536',
      BASE_URL: 'ftp://x',
      TRUST_PROXY: 'maybe',
      DATABASE_URL: 'mysql://root@localhost/x',
      DATABASE_POOL_SIZE: '1',
      REDIS_URL: 'localhost:6379',
      S3_ENDPOINT: 'not a url',
      ENCRYPTION_KEYS: 'a:short',
      BOOTSTRAP_EMAIL: 'nobody',
      BOOTSTRAP_PASSWORD: 'short',
      LOG_LEVEL: 'loud',
      RATE_LIMIT_READS: '-1',
      RATE_LIMIT_WRITES: '1.5',
      RATE_LIMIT_RAEDS: '5',
      DEFAULT_AGENT_MODEL: 'gpt',
      OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8,127.0.0.1',
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '5,,300',
      WEBHOOK_RETENTION_DAYS: '1',
      WEBHOOK_RETENTION: '30',
    }
    const mistakes = mistakesOf(env)
    for (const name of Object.keys(env)) {
      assert.equal(mistakes.filter((line) => line.startsWith(`${name} `)).length, 1, name)
    }
    assert.ok(mistakes.every((line) => !line.includes('\n')))
  })

  test('errors do not repeat the values of secret variables', () => {
    const env = {
      DATABASE_URL: 'mysql://root:hunter22@localhost/x',
      REDIS_URL: 'http://:hunter22@localhost',
      ENCRYPTION_KEYS: 'hunter22',
      BOOTSTRAP_API_KEY: 'hunter22',
      BOOTSTRAP_PASSWORD: 'hunter2',
    }
    const mistakes = mistakesOf(env)
    assert.equal(mistakes.length, 5)
    assert.ok(!mistakes.join().includes('hunter2'))
  })

  test('an unknown name with a prefix of Atrium is an error that lists the known names', () => {
    const [mistake, ...more] = mistakesOf({ RATE_LIMIT_READ: '5' })
    assert.match(mistake ?? '', /^RATE_LIMIT_READ is not a variable of Atrium.*RATE_LIMIT_READS/)
    assert.deepEqual(more, [])
    assert.deepEqual(mistakesOf({ SOMETHING_ELSE: '5', PATH: '/bin' }), [])
  })

  for (const [value, expected] of [
    ['1', true],
    ['true', true],
    ['YES', true],
    ['On', true],
    ['0', false],
    ['False', false],
    ['no', false],
    ['OFF', false],
    ['', false],
  ] as const) {
    test(`TRUST_PROXY=${value} is parsed as ${expected}`, () =>
      assert.equal(parseConfig({ TRUST_PROXY: value }).trustProxy, expected))
  }

  for (const value of ['2', 'y', 'tru', 'enabled', '10', 'null']) {
    test(`TRUST_PROXY=${value} is rejected`, () => assert.equal(mistakesOf({ TRUST_PROXY: value }).length, 1))
  }

  for (const value of ['abc', '1e3', '0x10', '-1', '+80', '8 0', '65536', '99999999999999999999', '3000.5']) {
    test(`PORT=${value} is rejected`, () => assert.equal(mistakesOf({ PORT: value }).length, 1))
  }

  test('BASE_URL must be an origin with an optional path, and its trailing slashes are removed', () => {
    assert.equal(parseConfig({ BASE_URL: 'https://a.example.com/' }).baseUrl, 'https://a.example.com')
    assert.equal(
      parseConfig({ BASE_URL: 'http://a.example.com:8080/atrium//' }).baseUrl,
      'http://a.example.com:8080/atrium',
    )
    for (const value of [
      'a.example.com',
      'https://',
      'https://u:p@a.example.com',
      'https://a.example.com?x',
      'https://a.example.com/#x',
    ]) {
      assert.equal(mistakesOf({ BASE_URL: value }).length, 1, value)
    }
  })

  test('encryption keys must have 32 bytes and different ids, and keep their order', () => {
    const key = Buffer.alloc(32, 7).toString('base64')
    const other = Buffer.alloc(32, 8).toString('base64')
    const keys = parseConfig({ ENCRYPTION_KEYS: `new:${key}, old:${other}` }).encryptionKeys
    assert.deepEqual(
      keys?.map(({ id }) => id),
      ['new', 'old'],
    )
    assert.equal(keys?.[0]?.key.length, 32)
    const wrong = [
      `a:${key},a:${other}`,
      `a:${Buffer.alloc(31).toString('base64')}`,
      key,
      `a b:${key}`,
      `a:${key},`,
      'a:!!!!',
    ]
    for (const value of wrong) assert.equal(mistakesOf({ ENCRYPTION_KEYS: value }).length, 1, value)
  })

  test('BOOTSTRAP_API_KEY must be a key of the same environment', () => {
    assert.deepEqual(mistakesOf({ NODE_ENV: 'test', BOOTSTRAP_API_KEY: generateKey('test') }), [])
    assert.equal(mistakesOf({ NODE_ENV: 'test', BOOTSTRAP_API_KEY: generateKey('live') }).length, 1)
    assert.equal(mistakesOf({ NODE_ENV: 'production', BOOTSTRAP_API_KEY: generateKey('test') }).length, 1)
  })

  test('DATABASE_URL accepts several hosts, attributes of a primary and known modes of TLS only', () => {
    const accepted = [
      'postgres://h1,h2/atrium',
      'postgres://user:pass@h1:5432,[::1]:5433/atrium?target_session_attrs=read-write&sslmode=require',
    ]
    for (const url of accepted) assert.equal(parseConfig({ DATABASE_URL: url }).databaseUrl, url)
    for (const url of [
      'postgres://h1,/atrium',
      'postgres://h1,h2:x/atrium',
      'postgres://h1/a?target_session_attrs=standby',
      'postgres://h1/a?sslmode=allow',
      'postgres://h1/a?x=y&sslmode=verify',
    ]) {
      assert.throws(() => parseConfig({ DATABASE_URL: url }), ConfigError, url)
    }
    assert.throws(() => parseConfig({ DATABASE_REPLICA_URL: 'postgres://h1/atrium' }), /DATABASE_URL is not/)
  })

  test('ENCRYPTION_KEYS is required in production with DATABASE_URL only', () => {
    const database = { DATABASE_URL: 'postgres://localhost/atrium' }
    assert.match(mistakesOf({ NODE_ENV: 'production', ...database })[0] ?? '', /^ENCRYPTION_KEYS is required/)
    assert.deepEqual(mistakesOf(database), [])
    assert.deepEqual(mistakesOf({ NODE_ENV: 'production' }), [])
  })

  test('S3_ENDPOINT without S3_BUCKET is rejected', () => {
    assert.equal(mistakesOf({ S3_ENDPOINT: 'https://s3.example.com' }).length, 1)
    const { s3 } = parseConfig({
      S3_ENDPOINT: 'https://s3.example.com',
      S3_BUCKET: 'files',
      S3_FORCE_PATH_STYLE: 'yes',
    })
    assert.equal(s3?.bucket, 'files')
    assert.equal(s3?.forcePathStyle, true)
    assert.equal(s3?.region, 'us-east-1')
  })

  test('every variable has a description that is a sentence', () => {
    for (const [name, { description }] of Object.entries(variables)) {
      assert.match(description, /^.{10,400}[.)]$/s, name)
    }
  })
})
