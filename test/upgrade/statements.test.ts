// The statements of each released version, recorded once with a sample of their parameters, run on the schema of this one.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { migrate, migrationsFolder } from '../../src/platform/database/migrate.ts'
import { createEmptyDatabase, sharedServer } from '../database.ts'
import { fixtureVersions, restoreFixture } from '../fixtures/database.ts'

interface Recorded {
  text: string
  /** Bytes as base64. */
  values: (string | null | { b: string })[]
}

const server = await sharedServer()
after(() => server.stop())

const statementsOf = (version: string): Recorded[] => {
  const file = new URL(`../fixtures/statements-${version}.json.gz`, import.meta.url)
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Recorded[]
}

/** What a client sees: the names and types of the columns and the number of rows, or the SQLSTATE. */
const outcomeOf = async (client: pg.Client, { text, values }: Recorded): Promise<string> => {
  const parameters = values.map((one) => (one !== null && typeof one === 'object' ? Buffer.from(one.b, 'base64') : one))
  await client.query('begin')
  try {
    const { fields, rowCount } = await client.query({ text, values: parameters, rowMode: 'array' })
    return `${rowCount ?? 0} rows (${fields.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`).join(', ')})`
  } catch (error) {
    return `error ${String((error as { code?: string }).code)}`
  } finally {
    await client.query('rollback')
  }
}

/** The outcomes of all statements on the database of a version, after the migrations of `folder`. */
const outcomes = async (version: string, statements: Recorded[], folder?: URL): Promise<string[]> => {
  const { connection, drop } = await createEmptyDatabase(server.connection)
  await restoreFixture(connection, version)
  if (folder) await migrate(connection, folder)
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const found: string[] = []
    for (const statement of statements) found.push(await outcomeOf(client, statement))
    return found
  } finally {
    await client.end()
    await drop()
  }
}

const outcomesBefore = new Map<string, string[]>()
/** The outcomes on the version's own schema. */
const outcomesOf = async (version: string, statements: Recorded[]): Promise<string[]> => {
  const found = outcomesBefore.get(version) ?? (await outcomes(version, statements))
  outcomesBefore.set(version, found)
  return found
}

/** The partitions of the audit log and of messages have no foreign keys: 0017 and 0019. */
const withoutForeignKeys = /^\s*insert into (audit_log|messages)\s/

/** Statements whose outcome is another one after the migrations of `folder`. */
const changed = async (version: string, folder: URL): Promise<string[]> => {
  const statements = statementsOf(version)
  const before = await outcomesOf(version, statements)
  const later = await outcomes(version, statements, folder)
  return statements.flatMap(({ text }, at) =>
    before[at] === later[at] || (before[at] === 'error 23503' && withoutForeignKeys.test(text))
      ? []
      : [`${before[at]} → ${later[at]}: ${text.replaceAll(/\s+/g, ' ').trim()}`],
  )
}

for (const version of fixtureVersions()) {
  test(`nearly all recorded statements of version ${version} succeed on its own schema`, async () => {
    const found = await outcomesOf(version, statementsOf(version))
    const failed = found.filter((outcome) => outcome.startsWith('error') && !outcome.startsWith('error 23'))
    assert.ok(found.length > 400, `${found.length} statements`)
    assert.ok(failed.length < found.length / 50, failed.join('\n'))
  })

  test(`every statement of version ${version} has the same outcome on the schema of this version`, async () =>
    assert.deepEqual(await changed(version, migrationsFolder), []))
}

test('the comparison finds a dropped column, a new required column, a changed type and a dropped unique index', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-statements-'))
  after(() => rm(folder, { recursive: true, force: true }))
  await cp(migrationsFolder, folder, { recursive: true })
  const text = `
    alter table webhooks drop column description;
    alter table files add column shade text; update files set shade = 'x'; alter table files alter shade set not null;
    alter table sessions alter column title type varchar(10000);
    drop index linear_bindings_organization_key`
  await writeFile(join(folder, '9999-bad.sql'), text)
  const found = await changed('0.1', pathToFileURL(`${folder}/`))
  for (const pattern of [
    /→ error 42703: .* webhooks/,
    /→ error 23502: .*insert into files/,
    /title 1043.*: select .* sessions/,
    /→ error 42P10: insert into linear_bindings/,
  ]) {
    assert.ok(
      found.some((line) => pattern.test(line)),
      `${pattern} in ${found.join('\n')}`,
    )
  }
})
