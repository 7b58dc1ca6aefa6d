import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { startTestApp } from '../harness.ts'
import { sourceFiles, statementsOf } from '../support/database/sql-templates.ts'

const app = await startTestApp()
const touches = (text: string, table: string): boolean =>
  new RegExp(String.raw`\b(from|join|into|update|using)\s+(only\s+)?${table}\b`, 'i').test(text)

test('every statement over a tenant table names org_id, or is marked with the reason why it spans all orgs', async () => {
  const rows = await app.db.rows<{ name: string }>(sql`
    select table_name::text as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org_id'`)
  const tables = [...rows.map(({ name }) => name), 'orgs']
  assert.ok(
    tables.includes('files') && tables.includes('agents') && tables.includes('api_keys'),
    'the tables were found',
  )
  const statements = sourceFiles
    .flatMap(statementsOf)
    .filter(({ text }) => tables.some((table) => touches(text, table)))
  assert.ok(statements.length > 50, `only ${statements.length} statements were found`)
  const faults = statements.filter(({ text }) => {
    if (text.includes('-- all orgs:')) return false
    return !/\borg_id\b/.test(text) && !(touches(text, 'orgs') && /\bid\s*=|insert into orgs/.test(text))
  })
  assert.deepEqual(faults, [])
})

test('SQL statements are only in files named queries.ts or *-queries.ts, except in src/platform', () => {
  const elsewhere = sourceFiles
    .filter((file) => !file.endsWith('queries.ts') && !file.startsWith('src/platform/'))
    .filter((file) => statementsOf(file).some(({ text }) => /\b(select|insert|update|delete)\b/i.test(text)))
  assert.deepEqual(elsewhere, ['src/operations.ts'], 'the readiness probe is the one exception')
})

test('every tenant table is keyed by org_id first, and points to other tenant tables within the org', async () => {
  const keys = await app.db.rows<{ name: string; first: string }>(sql`
    select c.relname::text as name, a.attname::text as first
    from pg_constraint k
      join pg_class c on c.oid = k.conrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
    -- The directory is read by keys that arrive without their org.
    where k.contype = 'p' and c.relname <> 'directory' and exists (
      select from pg_attribute o where o.attrelid = c.oid and o.attname = 'org_id' and not o.attisdropped)`)
  assert.ok(keys.length > 5)
  assert.deepEqual(
    keys.filter(({ first }) => first !== 'org_id'),
    [],
  )
  const foreign = await app.db.rows<{ name: string }>(sql`
    select k.conrelid::regclass::text || '.' || k.conname as name
    from pg_constraint k
    where k.contype = 'f'
      and exists (select from pg_attribute a where a.attrelid = k.conrelid and a.attname = 'org_id')
      and exists (select from pg_attribute a where a.attrelid = k.confrelid and a.attname = 'org_id')
      and not exists (
        select from pg_attribute a where a.attrelid = k.conrelid and a.attname = 'org_id' and a.attnum = any(k.conkey))`)
  assert.deepEqual(foreign, [])
})
