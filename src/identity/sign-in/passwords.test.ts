import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { hashPassword, isPassword, server, setPassword, shares, strangerAt } from './passwords.ts'

const app = await startTestApp({ RATE_LIMIT_SIGN_IN: '10', TRUST_PROXY: '1' })
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)

// Hashes of this password never end by themselves, so that the queue stays full while a test sends its requests.
const guess = 'a guess of the attacker'
// Nor do those of this one, which a test ends itself.
const slow = 'a password that takes long'
const { scrypt } = crypto
const held: (() => void)[] = []
const holding = (...[given, salt, length, options, done]: Parameters<typeof scrypt>): void => {
  if (given === guess || given === slow) held.push(() => done(null, Buffer.alloc(length)))
  else scrypt(given, salt, length, options, done)
}
crypto.scrypt = holding as typeof scrypt
syncBuiltinESMExports()
after(() => {
  crypto.scrypt = scrypt
  syncBuiltinESMExports()
})

const hex = (number: number): string => number.toString(16)

/** Fills all waiting places that attempts from so many /48 networks get, each attempt from a /64 of its own. */
class Flood {
  readonly #networks: number
  #pending = 0
  rejected = 0

  constructor(networks: number, attemptsPerNetwork: number) {
    this.#networks = networks
    for (let i = 0; i < attemptsPerNetwork; i++) this.#attemptFromEach(i)
  }

  #attemptFromEach(subnet: number): void {
    for (let network = 1; network <= this.#networks; network++)
      void this.#attempt(`2001:db8:${hex(network)}:${hex(subnet)}::1`)
  }

  async #attempt(ip: string): Promise<void> {
    this.#pending += 1
    try {
      await isPassword(guess, passwordHash, strangerAt(ip))
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'SERVICE_UNAVAILABLE')
      this.rejected += 1
    } finally {
      this.#pending -= 1
    }
  }

  /** Lets one hash after another end and fills its place again, until the answer is there. */
  async during<T>(answer: Promise<T>): Promise<T> {
    let isPending = true
    const settled = answer.finally(() => {
      isPending = false
    })
    settled.catch(() => undefined)
    while (isPending) {
      held.shift()?.()
      // Before any request is read, so that none finds a free place by chance.
      await new Promise<void>((resolve) => process.nextTick(resolve))
      this.#attemptFromEach(0)
      await setImmediate()
    }
    return settled
  }

  async end(): Promise<void> {
    while (this.#pending > 0) {
      held.shift()?.()
      await setImmediate()
    }
  }
}

const newOwner = async (): Promise<TestActor> => {
  const owner = await app.createOrg()
  await app.db.transaction('all orgs', (db) => setPassword(db, owner.userId, passwordHash))
  return owner
}
const signIn = (email: string, address: string, headers: Record<string, string> = {}): Promise<Answer> =>
  app.call('POST', '/api/v1/auth/sign-in', {
    json: { email, password },
    headers: { 'x-forwarded-for': address, ...headers },
  })
const cookiesOf = (answer: Answer): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

describe('while attempts from one /48 fill their places', () => {
  let flood: Flood
  beforeEach(() => {
    flood = new Flood(1, 130)
  })
  afterEach(() => flood.end())

  test('a sign-in from another network succeeds, and one from that /48 is SERVICE_UNAVAILABLE', async () => {
    const owner = await newOwner()
    await setImmediate()
    assert.equal(flood.rejected, 130 - 2 - 20, 'two are running and 20 wait')
    const rejected = await signIn(owner.email, '2001:db8:1:ffff::1')
    assert.equal(rejected.status, 503, rejected.text)
    assert.equal(rejected.headers.get('retry-after'), '5')
    const nobody = await signIn(`nobody-${owner.email}`, '2001:db8:1:fffe::1')
    assert.deepEqual([nobody.status, nobody.body.error.message], [503, rejected.body.error.message])
    const accepted = await flood.during(signIn(owner.email, '2001:db8:ffff::1'))
    assert.equal(accepted.status, 200, accepted.text)
  })
})

describe('while attempts from many networks fill all places of strangers', () => {
  let flood: Flood
  let owner: TestActor
  let cookie: string
  beforeEach(async () => {
    owner = await newOwner()
    cookie = cookiesOf(await signIn(owner.email, '203.0.113.1'))
    flood = new Flood(60, 20)
  })
  afterEach(() => flood.end())

  test('a browser that has signed in before signs in, and another one does not', async () => {
    assert.equal((await signIn(owner.email, '203.0.113.2')).status, 503)
    const known = await flood.during(signIn(owner.email, '203.0.113.3', { cookie }))
    assert.equal(known.status, 200, known.text)
  })

  test('a person who is signed in steps up, changes the password and begins two-factor authentication', async () => {
    const headers = { cookie, origin: app.url }
    const call = (path: string, json: object): Promise<Answer> =>
      flood.during(app.call('POST', `/api/v1/auth/${path}`, { json, headers }))
    assert.equal((await call('step-up', { password })).status, 200)
    assert.equal((await call('two-factor', { password })).status, 201)
    const changed = await call('password', { currentPassword: password, newPassword: 'another good password' })
    assert.equal(changed.status, 200, changed.text)
  })

  test('passwords of shares and of the command line are hashed', async () => {
    assert.equal(await flood.during(isPassword(password, passwordHash, shares)), true)
    const hash = await flood.during(hashPassword(password, server))
    assert.equal(await flood.during(isPassword(password, hash, server)), true)
  })
})

test('password changes and second factors that wait for a hash keep no connection of the database from others', async () => {
  const owner = await newOwner()
  const headers = { cookie: cookiesOf(await signIn(owner.email, '198.51.100.1')), origin: app.url }
  const changes = Array.from({ length: app.config.databasePoolSize + 1 }, () =>
    app.call('POST', '/api/v1/auth/password', { json: { currentPassword: password, newPassword: slow }, headers }),
  )
  const begun = app.call('POST', '/api/v1/auth/two-factor', { json: { password: slow }, headers })
  // Two hashes run at the same time, and the others wait for them.
  while (held.length < 2) await setImmediate()
  const other = await app.createOrg()
  assert.equal((await app.call('POST', '/api/v1/agents', { as: other, json: { name: 'Scout' } })).status, 201)
  let isPending = true
  const answers = Promise.all([...changes, begun]).finally(() => {
    isPending = false
  })
  while (isPending) {
    held.shift()?.()
    await setImmediate()
  }
  const statuses = (await answers).map(({ status }) => status)
  const ended = changes.slice(1).map(() => 401)
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [200, ...ended, 403],
    'one change succeeds and ends the session of the others',
  )
})
