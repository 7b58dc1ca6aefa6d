import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import sharp from 'sharp'
import { createSignInLink } from '../sign-in/links.ts'

const app = await startTestApp()
const second = await app.secondServer({}, { work: false })

const rename = (as: TestActor, name: string) => app.call('PATCH', '/api/v1/org', { as, json: { name } })
const auditOf = async (as: TestActor, action: string) =>
  (await app.call('GET', `/api/v1/audit-log?action=${action}`, { as })).body.data.items
const eventsOf = async ({ orgId }: TestActor, type: string) =>
  (await recordedEvents(app.db, orgId)).filter((event) => event.type === type)

/** The headers of a browser in which the person has signed in. */
const signedIn = async ({ userId }: TestActor): Promise<Record<string, string>> => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, userId, null))
  const answer = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: path.split('=')[1] } })
  return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: app.url }
}

describe('the org', () => {
  test('is renamed for every process at once, with an audit entry and an event', async () => {
    const [owner, other] = [await app.createOrg('Before'), await app.createOrg('Other')]
    const key = { as: owner }
    assert.equal((await second.call('GET', '/api/v1/me', key)).body.data.org.name, 'Before')
    const { status, body } = await rename(owner, '  After   all ')
    assert.equal(status, 200)
    assert.deepEqual([body.data.id, body.data.name], [owner.orgId, 'After all'])
    assert.ok(body.data.updatedAt > body.data.createdAt)
    assert.equal((await second.call('GET', '/api/v1/me', key)).body.data.org.name, 'After all')
    assert.deepEqual((await second.call('GET', '/api/v1/org', key)).body.data, body.data)
    const [entry, ...more] = await auditOf(owner, 'org.renamed')
    assert.deepEqual([entry.details, more], [{ from: 'Before', to: 'After all' }, []])
    const [event] = await eventsOf(owner, 'org.updated')
    assert.deepEqual(event?.data, { orgId: owner.orgId, name: 'After all', changed: ['name'] })
    assert.equal((await app.call('GET', '/api/v1/org', { as: other })).body.data.name, 'Other')
  })

  test('is the org of the caller, whatever id the body names', async () => {
    const [owner, other] = [await app.createOrg('Mine'), await app.createOrg('Theirs')]
    const json = { id: other.orgId, orgId: other.orgId, logoVersion: 'x', name: 'Taken', defaultTimeZone: 'Asia/Tokyo' }
    const { status, body } = await app.call('PATCH', '/api/v1/org', { as: owner, json })
    assert.deepEqual([status, body.data.id, body.data.name, body.data.logoUrl], [200, owner.orgId, 'Taken', null])
    const kept = (await app.call('GET', '/api/v1/org', { as: other })).body.data
    assert.deepEqual([kept.name, kept.defaultTimeZone], ['Theirs', null])
    assert.equal((await app.call('PATCH', '/api/v1/org', { as: owner, json: { id: 'x', name: 'Again' } })).status, 200)
    assert.deepEqual(await eventsOf(other, 'org.updated'), [])
  })

  test('has no audit entry and no event when its name stays', async () => {
    const owner = await app.createOrg('Same')
    assert.equal((await rename(owner, 'Same')).status, 200)
    assert.deepEqual([await auditOf(owner, 'org.renamed'), await eventsOf(owner, 'org.updated')], [[], []])
  })

  test('rejects a name of spaces, one that is too long, unknown defaults, and a body without a field', async () => {
    const owner = await app.createOrg('Named')
    const wrongNames = [{ name: '  ' }, { name: 'x'.repeat(121) }, { name: null }, {}]
    const wrongDefaults = [
      { defaultModel: 'no-such-model' },
      { defaultModel: 'atrium/demo-embedding' },
      { defaultTimeZone: 'Europe/Atlantis' },
      { defaultTimeZone: '+01:00' },
      { defaultLanguage: 'fr' },
      { name: 'Half', defaultTimeZone: 'nowhere' },
    ]
    for (const json of [...wrongNames, ...wrongDefaults]) {
      const { status } = await app.call('PATCH', '/api/v1/org', { as: owner, json })
      assert.equal(status, 400, JSON.stringify(json))
    }
    assert.equal((await app.call('GET', '/api/v1/org', { as: owner })).body.data.name, 'Named')
  })

  test('can be renamed while others change the authority of its members, without a deadlock', async () => {
    const owner = await app.createOrg('Busy')
    const work = Array.from({ length: 10 }, (_, n) => [
      rename(owner, `Busy ${n}`),
      app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: `Workspace ${n}` } }),
    ]).flat()
    for (const { status, text } of await Promise.all(work)) assert.ok(status < 300, text)
  })
})

describe('the defaults of an org', () => {
  test('apply to new agents and new members, not to those that exist, with one audit entry and one event', async () => {
    const owner = await app.createOrg()
    const before = await app.call('POST', '/api/v1/agents', { as: owner, json: { name: 'Before' } })
    const json = { defaultModel: 'atrium/demo-paid', defaultTimeZone: 'europe/berlin', defaultLanguage: 'de' }
    const { status, body } = await app.call('PATCH', '/api/v1/org', { as: owner, json })
    assert.equal(status, 200)
    const { defaultModel, defaultTimeZone, defaultLanguage } = body.data
    assert.deepEqual([defaultModel, defaultTimeZone, defaultLanguage], ['atrium/demo-paid', 'Europe/Berlin', 'de'])
    const [entry, ...more] = await auditOf(owner, 'org.defaults-updated')
    assert.deepEqual([entry.details, more], [{ ...json, defaultTimeZone: 'Europe/Berlin' }, []])
    const [event] = await eventsOf(owner, 'org.updated')
    assert.deepEqual(event?.data.changed, ['defaultModel', 'defaultTimeZone', 'defaultLanguage'])

    const create = (json: object) => app.call('POST', '/api/v1/agents', { as: owner, json })
    assert.equal((await create({ name: 'After' })).body.data.model, 'atrium/demo-paid')
    assert.equal((await create({ name: 'Named', model: 'atrium/demo' })).body.data.model, 'atrium/demo')
    const kept = await app.call('GET', `/api/v1/agents/${before.body.data.id}`, { as: owner })
    assert.equal(kept.body.data.model, before.body.data.model)

    const member = { email: `new-${crypto.randomUUID()}@example.com`, role: 'member' }
    const added = await app.call('POST', '/api/v1/members', { as: owner, json: member })
    const headers = await signedIn(added.body.data)
    const me = await app.call('GET', '/api/v1/me', { headers: { ...headers, 'x-org-id': owner.orgId } })
    assert.equal(me.body.data.user.language, 'de')
    assert.equal((await app.call('GET', '/api/v1/me', { as: owner })).body.data.user.language, null)
  })
})

const picture = (color: string, width = 300, height = 100) =>
  sharp({ create: { width, height, channels: 3, background: color } })

const putLogo = (as: TestActor, body: Buffer, type = 'image/png') =>
  app.call('PUT', '/api/v1/org/logo', { as, body, headers: { 'content-type': type } })

const bytesOf = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

describe('the logo of an org', () => {
  test('is stored in two sizes without its metadata, and everybody with its URL sees it', async () => {
    const [owner, other] = [await app.createOrg(), await app.createOrg()]
    const exif = { IFD0: { Artist: 'a secret name' } }
    const jpeg = await picture('#ff0000').withExif(exif).jpeg().toBuffer()
    const { status, body, text } = await putLogo(owner, jpeg, 'image/jpeg')
    assert.equal(status, 200, text)
    const { logoUrl } = body.data as { logoUrl: string }
    for (const [query, edge] of [
      ['', 256],
      ['?size=64', 64],
    ] as const) {
      const { status, headers, bytes } = await bytesOf(logoUrl + query)
      assert.deepEqual([status, headers.get('content-type')], [200, 'image/webp'])
      assert.match(headers.get('cache-control') ?? '', /^public, .*immutable/)
      const { width, height, exif, hasAlpha } = await sharp(bytes).metadata()
      assert.deepEqual([width, height, exif, hasAlpha], [edge, edge, undefined, true])
      assert.ok(bytes.length <= 32_768 && !bytes.includes('a secret name'))
    }
    assert.equal((await app.call('GET', '/api/v1/me', { as: owner })).body.data.org.logoUrl, logoUrl)
    const headers = await signedIn(owner)
    const session = await app.call('GET', '/api/v1/auth/session', { headers })
    assert.deepEqual(session.body.data.orgs[0].logoUrl, logoUrl)
    assert.equal((await app.call('GET', '/api/v1/org', { as: other })).body.data.logoUrl, null)
    assert.equal((await app.call('GET', '/api/v1/org/logo', { as: other })).status, 404)
    assert.equal((await bytesOf(logoUrl.replace(owner.orgId, other.orgId))).status, 404)
  })

  test('is read again with an ETag, replaced under another URL, and removed, each with an audit entry and an event', async () => {
    const owner = await app.createOrg()
    const red = await picture('#ff0000').png().toBuffer()
    const first = (await putLogo(owner, red)).body.data.logoUrl
    assert.equal((await putLogo(owner, red)).body.data.logoUrl, first)
    const read = (headers = {}) => app.call('GET', '/api/v1/org/logo?size=64', { as: owner, headers })
    const etag = (await read()).headers.get('etag') ?? ''
    assert.equal((await read({ 'if-none-match': etag })).status, 304)
    const second = (await putLogo(owner, await picture('#0000ff').webp().toBuffer(), 'image/webp')).body.data.logoUrl
    assert.notEqual(second, first)
    assert.equal((await read({ 'if-none-match': etag })).status, 200)
    assert.deepEqual([(await bytesOf(first)).status, (await bytesOf(second)).status], [404, 200])
    const remove = () => app.call('DELETE', '/api/v1/org/logo', { as: owner })
    assert.deepEqual(
      [(await remove()).status, (await remove()).status, (await bytesOf(second)).status],
      [200, 404, 404],
    )
    assert.equal((await app.call('GET', '/api/v1/org', { as: owner })).body.data.logoUrl, null)
    assert.equal((await auditOf(owner, 'org.logo-changed')).length, 2)
    assert.equal((await auditOf(owner, 'org.logo-removed')).length, 1)
    const events = await eventsOf(owner, 'org.updated')
    assert.deepEqual(
      events.map(({ data }) => data.changed),
      [['logo'], ['logo'], ['logo']],
    )
  })

  test('is changed by owners and admins only, and is no SVG, GIF, damaged or large file', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const png = await picture('#00ff00').png().toBuffer()
    assert.equal((await putLogo(member, png)).status, 403)
    assert.equal((await app.call('DELETE', '/api/v1/org/logo', { as: member })).status, 403)
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    const gif = await picture('#00ff00').gif().toBuffer()
    for (const [body, type] of [
      [svg, 'image/svg+xml'],
      [svg, 'image/png'],
      [gif, 'image/gif'],
      [gif, 'image/png'],
      [png.subarray(0, png.length / 2), 'image/png'],
      [Buffer.alloc(0), 'image/png'],
      [Buffer.alloc(1_048_577), 'image/png'],
    ] as const) {
      const { status } = await putLogo(owner, body, type)
      assert.equal(status, 400, `${type} ${body.length}`)
    }
    const noise = sharp({
      create: {
        width: 500,
        height: 500,
        channels: 3,
        background: '#000',
        noise: { type: 'gaussian', mean: 128, sigma: 90 },
      },
    })
    assert.equal((await putLogo(owner, await noise.png({ palette: true }).toBuffer())).status, 200)
  })

  test('and the name of the org are known to the holder of a sign-in link, which stays valid, and to nobody else', async () => {
    const owner = await app.createOrg('Northwind')
    const logoUrl = (await putLogo(owner, await picture('#00ff00').png().toBuffer())).body.data.logoUrl
    const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, [owner.orgId]))
    const json = { token: path.split('=')[1] }
    const check = () => app.call('POST', '/api/v1/auth/sign-in/link/check', { json })
    for (const _again of [1, 2]) assert.deepEqual((await check()).body.data, { org: { name: 'Northwind', logoUrl } })
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in/link', { json })).status, 200)
    assert.equal((await check()).status, 401)
  })
})

describe('the own name', () => {
  test('changes in this org only, for every process at once, with an audit entry and an event', async () => {
    const [owner, elsewhere] = [await app.createOrg(), await app.createOrg()]
    const member = await app.createUser(owner, 'member')
    const before = (await second.call('GET', '/api/v1/me', { as: member })).body.data
    const headers = await signedIn(member)
    const { status, body } = await app.call('PATCH', '/api/v1/me', { headers, json: { name: 'Ada  Lovelace' } })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.data.user.name, 'Ada Lovelace')
    const after = (await second.call('GET', '/api/v1/me', { as: member })).body.data
    assert.deepEqual(after, { ...before, user: { ...before.user, name: 'Ada Lovelace' } })
    const [entry] = await auditOf(owner, 'member.renamed')
    assert.deepEqual(entry.details, { from: before.user.name, to: 'Ada Lovelace' })
    assert.equal(entry.actor.id, member.userId)
    const [event] = await eventsOf(owner, 'member.updated')
    assert.deepEqual([event?.data.userId, event?.data.name], [member.userId, 'Ada Lovelace'])
    const members = await app.call('GET', '/api/v1/members', { as: owner })
    assert.ok(members.body.data.items.some(({ name }: { name: string }) => name === 'Ada Lovelace'))
    assert.deepEqual(await eventsOf(elsewhere, 'member.updated'), [])
  })

  test('cannot be changed with an API key', async () => {
    const owner = await app.createOrg()
    const { status } = await app.call('PATCH', '/api/v1/me', { as: owner, json: { name: 'Somebody' } })
    assert.equal(status, 403)
  })
})
