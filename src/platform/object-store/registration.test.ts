import assert from 'node:assert/strict'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../database/database.ts'
import { StartError } from '../process/start-error.ts'
import { openDiskStore } from './disk.ts'
import { storeUnavailable } from './object-store.ts'
import { adoptStore, checkRegistration, isRegistered, locationOf } from './registration.ts'
import type { LocatedStore } from './registration.ts'

const { db } = await startTestApp({}, { work: false })
const folder = await mkdtemp(join(tmpdir(), 'atrium-registration-'))
after(() => rm(folder, { recursive: true, force: true }))

beforeEach(() =>
  db.execute(sql`
    update object_store_registration
    set identity = null, location = null, registered_at = null, lease_token = null, lease_until = null`),
)

const open = async (name: string): Promise<LocatedStore> => ({
  objects: await openDiskStore(join(folder, name)),
  location: `disk ${name}`,
})
const unreachable = (location: string): LocatedStore => ({
  objects: { get: () => Promise.reject(storeUnavailable(new Error('down'))) } as unknown as LocatedStore['objects'],
  location,
})
const warnings: string[] = []
const log = { warn: (_details: unknown, message: string) => void warnings.push(message) } as Parameters<
  typeof checkRegistration
>[2]
const check = (store: LocatedStore): Promise<void> => checkRegistration(db, store, log)
const isOther = (pattern: RegExp) => (error: unknown) => error instanceof StartError && pattern.test(error.message)

test('a process whose directory is not the one of the first process does not start', async () => {
  await check(await open('first'))
  await check(await open('first'))
  await assert.rejects(
    check(await open('second')),
    isOther(/in another object store \(disk first\) than the one of this process \(disk second\)/),
  )
  assert.deepEqual(warnings, [])
})

test('of many processes that start at the same time with two stores, only those with one of the stores start', async () => {
  const stores = await Promise.all(['left', 'right', 'left', 'right', 'left', 'right'].map(open))
  const results = await Promise.allSettled(stores.map(check))
  const started = stores.filter((_, at) => results[at]?.status === 'fulfilled').map(({ location }) => location)
  assert.equal(started.length, 3)
  assert.equal(new Set(started).size, 1)
})

test('a store at another path with the same objects is accepted, because it is the same or a complete copy', async () => {
  await check(await open('original'))
  await cp(join(folder, 'original'), join(folder, 'copy'), { recursive: true })
  await check(await open('copy'))
})

test('an empty directory in place of the registered one is rejected, because a mount is missing', async () => {
  await check(await open('mounted'))
  await rm(join(folder, 'mounted'), { recursive: true })
  await assert.rejects(check(await open('mounted')), isOther(/in another object store/))
})

test('a store of another database is rejected, because its files have no rows in this one', async () => {
  const shared = await open('shared')
  await check(shared)
  await db.execute(sql`update object_store_registration set identity = null, location = null, registered_at = null`)
  await assert.rejects(check(shared), isOther(/belongs to another database/))
})

test('a process that died after it wrote the identity to its store can start again', async () => {
  const store = await open('interrupted')
  await check(store)
  await db.execute(sql`
    update object_store_registration
    set location = null, registered_at = null, lease_until = now() + interval '300 milliseconds',
      lease_token = gen_random_uuid()`)
  await check(store)
  assert.equal(await isRegistered(db, store), true)
})

test('an adopted store replaces the previous one, whose processes do not start any more', async () => {
  const [old, next] = [await open('old'), await open('next')]
  await check(old)
  assert.equal(await adoptStore(db, next), 'disk old')
  await check(next)
  await assert.rejects(check(old), isOther(/in another object store \(disk next\)/))
})

test('a store that cannot be read prevents the start only when its location is not the registered one', async () => {
  await check(unreachable('s3 here/files'))
  await check(await open('reachable'))
  await check(unreachable('disk reachable'))
  assert.equal(warnings.length, 2)
  assert.match(warnings[1] ?? '', /\(disk reachable\) cannot be reached/)
  await assert.rejects(check(unreachable('s3 here/files')), isOther(/in another object store/))
})

test('the comparison without registration changes nothing', async () => {
  const store = await open('untouched')
  assert.equal(await isRegistered(db, store), false)
  assert.equal(await store.objects.head('atrium/store-id'), undefined)
})

test('the location of a store contains no credentials', () => {
  const s3 = {
    bucket: 'files',
    endpoint: 'http://user:secret@s3.local:9000/',
    publicEndpoint: undefined,
    region: 'eu-1',
  }
  assert.equal(locationOf({ dataDir: '/data', s3: { ...s3, forcePathStyle: true } }), 's3 http://s3.local:9000/files')
  assert.equal(
    locationOf({ dataDir: '/data', s3: { ...s3, endpoint: undefined, forcePathStyle: false } }),
    's3 AWS eu-1/files',
  )
  assert.match(locationOf({ dataDir: '/data', s3: undefined }), /^disk .+:\/data\/objects$/)
})
