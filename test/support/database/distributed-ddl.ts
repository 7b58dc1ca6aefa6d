import { coordinatorTables } from '../../../src/platform/database/distribute.ts'
import { splitStatements } from '../../../src/platform/database/split-statements.ts'

/** A statement of a migration that fails on a distributed schema, and what to write instead. */
export interface RejectedStatement {
  text: string
  why: string
}

const local = [...coordinatorTables].join('|')

// Found by running each form on Citus 13.2. Statements on tables that stay on the coordinator are not affected.
const rules: { pattern: RegExp; why: string; forNewTables?: true }[] = [
  {
    pattern: /^alter table .*\badd (?:column )?(?!constraint|check)(?:if not exists )?\w+ [^,]*\bcheck\b ?\(/,
    why: 'ADD COLUMN with CHECK: add the constraint in a command of its own',
  },
  {
    pattern: /^alter table .*\badd (?:column )?.*\bas identity\b/,
    why: 'ADD COLUMN with an identity: create the table with it',
  },
  { pattern: /^alter table .*\bset storage\b/, why: 'SET STORAGE is not passed on to the shards' },
  {
    pattern: /^create unique index (?!.*\bon (?:only )?\w+(?: using \w+)? ?\(.*\borg_id\b)/,
    why: 'a unique index needs org_id',
    forNewTables: true,
  },
  {
    pattern:
      /^alter table .*\badd (?:constraint \w+ )?(?:unique|primary key)(?: nulls (?:not )?distinct)? ?\((?!.*\borg_id\b)/,
    why: 'a unique constraint needs org_id',
    forNewTables: true,
  },
  {
    pattern: new RegExp(String.raw`^alter table .*\breferences (?:${local})\b`),
    why: 'a foreign key cannot reach a table of the coordinator',
  },
  {
    pattern: /^create (?:or replace )?(?:constraint )?trigger /,
    why: 'a trigger runs on the shards only: keep the rule in the code, or write down why the trigger may run there',
  },
  { pattern: /\bctid\b/, why: 'ctid is not unique over the shards' },
]

const tableOf = (text: string): string | undefined =>
  /^alter table (?:if exists )?(?:only )?(\w+)/.exec(text)?.[1] ?? /^create .*? on (?:only )?(\w+)/.exec(text)?.[1]

/**
 * The statements of a migration that a distributed schema rejects, or that mean something else there. A table that the
 * same migration creates is still local and may be changed in any way, as long as its unique keys contain org_id.
 */
export const rejectedStatements = (migration: string): RejectedStatement[] => {
  const statements = splitStatements(migration).map((text) => text.replaceAll(/\s+/g, ' ').toLowerCase())
  const created = new Set(
    statements
      .map((text) => /^create table (?:if not exists )?(\w+)/.exec(text)?.[1])
      .filter((name) => name !== undefined),
  )
  return statements.flatMap((text) => {
    const table = tableOf(text)
    if (table !== undefined && coordinatorTables.has(table)) return []
    const rule = rules.find(
      ({ pattern, forNewTables }) =>
        pattern.test(text) && (forNewTables === true || table === undefined || !created.has(table)),
    )
    return rule ? [{ text, why: rule.why }] : []
  })
}
