import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { startTestApp } from '../harness.ts'

const app = await startTestApp()
const root = new URL('../../', import.meta.url)

interface Found {
  file: string
  text: string
}

/** The text of a fragment that the same file defines under this name (`const ofKey = (…) => sql…`). */
const fragmentNamed = (source: string, name: string, depth: number): string => {
  const defined = source.search(new RegExp(String.raw`\bconst ${name}\b`))
  const begin = defined === -1 ? -1 : source.indexOf('sql`', defined)
  return begin === -1 || depth > 3 ? ' ? ' : readTemplate(source, begin + 4, depth).text
}

/**
 * The text of a template that begins at `from` (behind its backtick), nested templates and fragments included, and
 * where it ends.
 */
const readTemplate = (source: string, from: number, depth = 0): { text: string; end: number } => {
  let text = ''
  for (let i = from; i < source.length; i++) {
    if (source[i] === '\\') {
      text += source.slice(i, i + 2)
      i++
    } else if (source[i] === '`') return { text, end: i }
    else if (source.startsWith('${', i)) {
      let open = 1
      i += 2
      const [, name] = /^(\w+)[({}]/.exec(source.slice(i, i + 60)) ?? []
      if (name !== undefined) text += fragmentNamed(source, name, depth + 1)
      for (; open > 0; i++) {
        if (source[i] === '`') {
          const nested = readTemplate(source, i + 1, depth)
          text += ` ${nested.text} `
          i = nested.end
        } else if (source[i] === '{') open++
        else if (source[i] === '}') open--
      }
      i--
      text += ' ? '
    } else text += source[i]
  }
  throw new Error('a template does not end')
}

const statementsOf = (file: string): Found[] => {
  const source = readFileSync(new URL(file, root), 'utf8')
  const found: Found[] = []
  let at = 0
  for (;;) {
    const begin = source.indexOf('sql`', at)
    if (begin === -1) return found
    const { text, end } = readTemplate(source, begin + 4)
    found.push({ file, text })
    at = end + 1
  }
}

const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
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
  const statements = sources.flatMap(statementsOf).filter(({ text }) => tables.some((table) => touches(text, table)))
  assert.ok(statements.length > 50, `only ${statements.length} statements were found`)
  const faults = statements.filter(({ text }) => {
    if (text.includes('-- all orgs:')) return false
    return !/\borg_id\b/.test(text) && !(touches(text, 'orgs') && /\bid\s*=|insert into orgs/.test(text))
  })
  assert.deepEqual(faults, [])
})

test('SQL statements are only in files named queries.ts or *-queries.ts, except in src/platform', () => {
  const elsewhere = sources
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
