import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { sealedColumns } from '../../sealed-columns.ts'
import { sql } from '../database/database.ts'
import type { Database } from '../database/database.ts'
import { openSecrets } from './keys.ts'
import { newId } from '../ids.ts'
import { defineSealedColumn, reencrypt } from './reencrypt.ts'
import { createSealer } from './secrets.ts'
import type { Sealer } from './secrets.ts'

const { db } = await startTestApp({}, { work: false })
await db.execute(sql`
  create table vault (org_id uuid, id uuid, secret_sealed text, primary key (org_id, id))`)
await db.execute(sql`create table settings (name text, part integer, sealed text, primary key (name, part))`)

const vault = defineSealedColumn('vault', 'secret_sealed')
const settings = defineSealedColumn('settings', 'sealed', { orgColumn: null, idColumns: ['name', 'part'] })
const columns = [vault, settings]

const oldKey = { id: 'old', key: randomBytes(32) }
const newKey = { id: 'new', key: randomBytes(32) }
const oldSealer = createSealer([oldKey])
const rotated = createSealer([newKey, oldKey])
const onlyNew = createSealer([newKey])

const fill = async (count: number, sealer: Sealer) => {
  await db.execute(sql`truncate vault, settings`)
  const orgs = [newId(), newId()]
  const rows = Array.from({ length: count }, (_, n) => ({ orgId: orgs[n % 2]!, id: newId(), secret: `secret ${n}` }))
  for (const { orgId, id, secret } of rows) {
    const sealed = sealer.seal(secret, vault.at(orgId, id))
    await db.execute(sql`insert into vault values (${orgId}, ${id}, ${sealed})`)
  }
  await db.execute(sql`insert into vault values (${orgs[0]}, ${newId()}, null)`)
  await db.execute(
    sql`insert into settings values ('smtp', 1, ${sealer.seal('setting', settings.at('', 'smtp', '1'))})`,
  )
  return rows
}

const readWith = async (sealer: Sealer) => {
  const rows = await db.rows<{ orgId: string; id: string; secretSealed: string }>(
    sql`select org_id, id, secret_sealed from vault where secret_sealed is not null`,
  )
  return new Set(rows.map((row) => sealer.open(row.secretSealed, vault.at(row.orgId, row.id))))
}

test('reencrypt encrypts every value with the current key in batches and keeps its text', async () => {
  const rows = await fill(25, oldSealer)
  const progress: number[] = []
  const result = await reencrypt(db, rotated, columns, {
    batchSize: 10,
    onBatch: ({ table, resealed }) => {
      if (table === 'vault') progress.push(resealed)
    },
  })
  assert.deepEqual(result, {
    columns: [
      { table: 'vault', column: 'secret_sealed', resealed: 25, changed: 0, unreadable: 0 },
      { table: 'settings', column: 'sealed', resealed: 1, changed: 0, unreadable: 0 },
    ],
    isComplete: true,
  })
  assert.deepEqual(progress, [10, 20, 25])
  assert.deepEqual(await readWith(onlyNew), new Set(rows.map((row) => row.secret)))
  const row = await db.row<{ sealed: string }>(sql`select sealed from settings`)
  assert.equal(onlyNew.open(row!.sealed, settings.at('', 'smtp', '1')), 'setting')
  const again = await reencrypt(db, rotated, columns)
  assert.deepEqual(
    again.columns.map((column) => column.resealed),
    [0, 0],
  )
})

test('an old key can be removed only when no value is encrypted with it', async () => {
  const dataDir = '/nowhere'
  await db.execute(sql`delete from encryption_checks`)
  await openSecrets(db, { encryptionKeys: [oldKey], dataDir })
  await fill(3, oldSealer)
  await openSecrets(db, { encryptionKeys: [newKey, oldKey], dataDir })
  await assert.rejects(openSecrets(db, { encryptionKeys: [newKey], dataDir }), /encrypted with the key old/)
  await reencrypt(db, rotated, columns)
  await openSecrets(db, { encryptionKeys: [newKey], dataDir })
})

test('an interrupted run is completed by the next one', async () => {
  const rows = await fill(30, oldSealer)
  const stopped = reencrypt(db, rotated, columns, {
    batchSize: 10,
    onBatch: () => {
      throw new Error('stopped')
    },
  })
  await assert.rejects(stopped, /stopped/)
  const result = await reencrypt(db, rotated, columns)
  assert.equal(result.columns[0]?.resealed, 20)
  assert.deepEqual(await readWith(onlyNew), new Set(rows.map((row) => row.secret)))
})

test('values that another process writes during the run are kept', async () => {
  const [row] = await fill(1, oldSealer)
  const { orgId, id } = row!
  // Reads as before, and writes as if somebody else had been faster.
  const beaten: Database = {
    ...db,
    execute: async (statement) => {
      if (statement.text.includes('update "vault"')) {
        await db.execute(
          sql`update vault set secret_sealed = ${rotated.seal('theirs', vault.at(orgId, id))} where id = ${id}`,
        )
      }
      return db.execute(statement)
    },
  }
  const result = await reencrypt(beaten, rotated, columns)
  assert.deepEqual(result.columns[0], {
    table: 'vault',
    column: 'secret_sealed',
    resealed: 0,
    changed: 1,
    unreadable: 0,
  })
  assert.deepEqual(await readWith(onlyNew), new Set(['theirs']))
})

test('a value that cannot be opened is counted, not changed, and keeps the old keys required', async () => {
  const rows = await fill(5, oldSealer)
  const { orgId, id } = rows[2]!
  const moved = oldSealer.seal('moved', vault.at(orgId, newId()))
  await db.execute(sql`update vault set secret_sealed = ${moved} where id = ${id}`)
  const result = await reencrypt(db, rotated, columns, { batchSize: 2 })
  assert.deepEqual(result.columns[0], {
    table: 'vault',
    column: 'secret_sealed',
    resealed: 4,
    changed: 0,
    unreadable: 1,
  })
  assert.equal(result.isComplete, false)
  const kept = await db.row<{ secretSealed: string }>(sql`select secret_sealed from vault where id = ${id}`)
  assert.equal(kept?.secretSealed, moved)
})

test('every sealed column of the schema is listed for re-encryption', async () => {
  const found = await db.rows<{ name: string }>(sql`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and (column_name = 'sealed' or column_name like '%\\_sealed')
      and table_name not in ('encryption_checks', 'vault', 'settings')`)
  const listed = new Set(sealedColumns.map(({ table, column }) => `${table}.${column}`))
  assert.deepEqual(
    found.map((row) => row.name).filter((name) => !listed.has(name)),
    [],
  )
  assert.ok(listed.size > 0)
})
