import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../database/database.ts'
import { openSecrets } from './keys.ts'
import type { EncryptionKey } from './secrets.ts'
import { StartError } from '../process/start-error.ts'

const { db } = await startTestApp({}, { work: false })
const root = await mkdtemp(join(tmpdir(), 'atrium-keys-'))
after(() => rm(root, { recursive: true }))
const newDir = () => mkdtemp(join(root, 'data-'))

const newKey = (id: string): EncryptionKey => ({ id, key: randomBytes(32) })
const place = { table: 't', column: 'c', orgId: 'o', rowId: 'r' }
const withKeys = (...encryptionKeys: EncryptionKey[]) => openSecrets(db, { encryptionKeys, dataDir: '/nowhere' })
const withDir = (dataDir: string) => openSecrets(db, { encryptionKeys: undefined, dataDir })
const refusal = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error))
  assert.match(error.message, pattern)
  assert.ok(error.hint)
  return true
}

beforeEach(() => db.execute(sql`delete from encryption_checks`))

describe('the key of a data directory', () => {
  test('the first start generates a key file that only its owner can read, and later starts use it', async () => {
    const dir = await newDir()
    const first = await withDir(dir)
    const second = await withDir(dir)
    assert.equal(second.open(first.seal('text', place), place), 'text')
    assert.deepEqual(await readdir(dir), ['encryption-keys'])
    assert.equal((await stat(join(dir, 'encryption-keys'))).mode & 0o777, 0o600)
    assert.match(await readFile(join(dir, 'encryption-keys'), 'utf8'), /^local-[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/)
  })

  test('concurrent first starts use the same generated key', async () => {
    const dir = await newDir()
    const sealers = await Promise.all(Array.from({ length: 10 }, () => withDir(dir)))
    assert.equal(new Set(sealers.map((sealer) => sealer.currentKeyId)).size, 1)
    assert.deepEqual(await readdir(dir), ['encryption-keys'])
    assert.equal((await db.rows(sql`select from encryption_checks`)).length, 1)
  })

  test('a lost key file is not replaced, because a new key could not decrypt the stored secrets', async () => {
    const dir = await newDir()
    const { currentKeyId } = await withDir(dir)
    await rm(join(dir, 'encryption-keys'))
    await assert.rejects(
      withDir(dir),
      refusal(new RegExp(`encrypted with the key ${currentKeyId}, but .* does not exist`)),
    )
    assert.deepEqual(await readdir(dir), [])
  })

  test('a key is rotated by a new first line in the key file', async () => {
    const dir = await newDir()
    const before = await withDir(dir)
    const file = join(dir, 'encryption-keys')
    await writeFile(file, `new:${randomBytes(32).toString('base64')}\n${await readFile(file, 'utf8')}`)
    const rotated = await withDir(dir)
    assert.equal(rotated.currentKeyId, 'new')
    assert.equal(rotated.open(before.seal('text', place), place), 'text')
  })

  test('a damaged key file prevents the start', async () => {
    const dir = await newDir()
    await writeFile(join(dir, 'encryption-keys'), 'local-1:short\n')
    await assert.rejects(withDir(dir), refusal(/is damaged/))
  })
})

describe('the configured keys', () => {
  test('the configured keys must include every key that encrypted secrets in the database', async () => {
    const [first, second] = [newKey('k1'), newKey('k2')]
    await withKeys(first)
    await assert.rejects(withKeys(second), refusal(/the key k1, which is not configured \(configured: k2\)/))
    await withKeys(second, first)
    await withKeys(first, second)
    await assert.rejects(withKeys(first), refusal(/encrypted with the key k2/))
  })

  test('a configured key with the id of another key prevents the start', async () => {
    await withKeys(newKey('k1'))
    await assert.rejects(withKeys(newKey('k1')), refusal(/k1 is not the key with this id/))
  })

  test('one of two concurrent first starts with different keys fails', async () => {
    const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => withKeys(newKey(id))))
    assert.deepEqual(results.map((result) => result.status).toSorted(), ['fulfilled', 'rejected', 'rejected'])
  })
})
