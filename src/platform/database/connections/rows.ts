import pg from 'pg'

// Timestamps are converted from PostgreSQL's text `2026-11-21 03:38:50.123456+00` to `2026-11-21T03:38:50.123Z` by slicing:
// a Date in between costs 1 µs per column of the hot reads.
const isoFromPostgres = (text: string): string => {
  if (!text.endsWith('+00')) return text
  const milliseconds = text[19] === '.' ? text.slice(20, -3).padEnd(3, '0').slice(0, 3) : '000'
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`
}

const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.TIMESTAMPTZ, isoFromPostgres],
  [pg.types.builtins.DATE, (text: string) => text],
])

/** `int8` arrives as bigint, `timestamptz` as ISO 8601 in UTC with milliseconds, `date` as text. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format ?? 'text'),
}

const camelCase = (column: string): string =>
  column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

// Statement texts come from a fixed set of templates. The limits prevent templates whose conditions vary with a request
// from filling the server's memory with prepared statements, and from taking the names of all others. A process that uses
// every part of Atrium has more than 500 texts. Those beyond a limit are planned for each execution.
const maxPreparedStatements = 1_000
const maxFormsOfTemplate = 64
const preparedNames = new Map<string, string>()
const formsOfTemplate = new Map<string, number>()

/**
 * The name of the prepared statement with this text, the same on all connections. `template` is what the forms of a
 * statement have in common. Undefined when there are too many statements, or forms of this one.
 */
export const preparedName = (text: string, template: string): string | undefined => {
  const known = preparedNames.get(text)
  if (known !== undefined || preparedNames.size >= maxPreparedStatements) return known
  const forms = formsOfTemplate.get(template) ?? 0
  if (forms >= maxFormsOfTemplate) return undefined
  formsOfTemplate.set(template, forms + 1)
  const name = `s${preparedNames.size}`
  preparedNames.set(text, name)
  return name
}

const columnNames = new Map<string, string[]>()

/** The rows of a statement as objects with names in camelCase. */
export const toObjects = <Row>(text: string, result: pg.QueryArrayResult): Row[] => {
  let names = columnNames.get(text)
  if (names === undefined) {
    names = result.fields.map((field) => camelCase(field.name))
    if (columnNames.size < maxPreparedStatements) columnNames.set(text, names)
  }
  return result.rows.map((values: unknown[]) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) row[names[i] as string] = values[i]
    return row as Row
  })
}
