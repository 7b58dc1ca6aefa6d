import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFolder, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import type { Statement, Transaction } from '../../platform/database/database.ts'
import { copyFile } from './copies.ts'

const app = await startTestApp({}, { work: false })
const { db, quotas } = app.deps

test('a copy of files with many tags has them, but does not read them into the memory of the server', async () => {
  const owner = await app.createOrg()
  const folder = await createFolder(app, owner, 'f')
  for (let number = 0; number < 5; number += 1) await upload(app, owner, 'x', { parentId: folder.id })
  const tags = Array.from({ length: 50 }, (_, index) => `${index} ${'𝒳'.repeat(60)}`)
  await db.execute(sql`update files set tags = ${tags} where org_id = ${owner.orgId} and source = 'upload'`)
  let characters = 0
  const count = (value: unknown): void => {
    characters += JSON.stringify([value], (_key, one: unknown) => (typeof one === 'bigint' ? Number(one) : one)).length
  }
  const actor = { ...owner, role: 'owner', workspaceIds: [] } as unknown as Parameters<typeof copyFile>[2]
  const copy = await db.transaction(actor, (db) => {
    const counting: Transaction = {
      ...db,
      rows: async <Row>(statement: Statement): Promise<Row[]> => {
        const rows = await db.rows<Row>(statement)
        count([statement.values, rows])
        return rows
      },
      row: async <Row>(statement: Statement): Promise<Row | undefined> => {
        const row = await db.row<Row>(statement)
        count([statement.values, row])
        return row
      },
      execute: (statement) => {
        count(statement.values)
        return db.execute(statement)
      },
    }
    return copyFile(counting, quotas, actor, { sourceId: folder.id, parentId: null, name: 'copy', isDeep: true })
  })
  const copied = await db.rows<{ tags: string[] }>(sql`
    select tags from files where org_id = ${owner.orgId} and parent_id = ${copy.id}`)
  assert.deepEqual(
    copied,
    Array.from({ length: 5 }, () => ({ tags })),
  )
  assert.ok(characters < 15_000, `${characters} characters for 5 files`)
})
