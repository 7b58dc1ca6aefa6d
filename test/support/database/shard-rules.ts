/**
 * What Citus 13 rejects on a schema that is distributed by `org_id`, found by running every statement of the test suite on
 * a cluster. The rules read texts, so that `npm test` finds a regression without a cluster.
 */

/** A query without its subqueries, which are `§` in its text. */
interface Block {
  kind: 'select' | 'insert' | 'update' | 'delete'
  text: string
  /** The tables of the block that are distributed. */
  tables: TableReference[]
  /** Whether it is the body of a CTE. */
  isCte: boolean
  /** What precedes its parenthesis, such as `lateral`. */
  after: string
}

interface TableReference {
  table: string
  alias: string
}

export interface Statement {
  /** Marked `-- all orgs`. */
  isForAllOrgs: boolean
  /** Without comments. */
  text: string
  blocks: Block[]
  /** Whether a block has a distributed table. */
  isDistributed: boolean
}

export interface ShardRule {
  name: string
  /** What happens on a distributed schema, and what to write instead. */
  why: string
  /** The part of the statement that breaks the rule, or undefined. */
  find(statement: Statement): string | undefined
}

// What can follow a table without an alias. As an alias, it would hide the table behind it.
const keyword =
  'where|on|set|join|left|right|full|inner|cross|order|group|limit|values|select|using|returning|for|and|or|union|default|as|having|from|offset|do'
const tableReference = new RegExp(
  String.raw`\b(?:from|join|into|update|using)\s+(?:only\s+)?([a-z_]+)\b(?!\s*\.)(?:\s+(?:as\s+)?(?!(?:${keyword})\b)([a-z_]+)\b)?`,
  'g',
)

const tablesOf = (text: string, distributed: ReadonlySet<string>): TableReference[] =>
  Array.from(text.matchAll(tableReference), ([, table = '', alias]) => ({
    table,
    alias: alias ?? table,
  })).filter(({ table }) => distributed.has(table))

const kindOf = (text: string): Block['kind'] | undefined =>
  (/^\s*(?:§\s*)?(select|insert|update|delete)\b/.exec(text)?.[1] ??
    (/^\s*with\b/.test(text) ? /§\s*(select|insert|update|delete)\b/.exec(text)?.[1] : undefined)) as
    | Block['kind']
    | undefined

/** Splits a text into its queries. Parentheses that contain no query, such as arguments, stay in the text of their block. */
const blocksOf = (text: string, distributed: ReadonlySet<string>): Block[] => {
  const blocks: Block[] = []
  const add = (body: string, after: string): boolean => {
    if (kindOf(body) === undefined) return false
    const isCte = /\bas(?: not)?(?: materialized)?$/.test(after)
    for (const part of body.split(/\bunion(?: all)?\b/)) {
      const kind = kindOf(part)
      if (kind !== undefined)
        blocks.push({ kind, text: part.trim(), tables: tablesOf(part, distributed), isCte, after })
    }
    return true
  }
  const read = (from: number): { body: string; end: number } => {
    let body = ''
    for (let i = from; i < text.length; i++) {
      if (text[i] === "'") {
        const end = text.indexOf("'", i + 1)
        body += text.slice(i, end + 1)
        i = end
      } else if (text[i] === '(') {
        const inner = read(i + 1)
        body += add(inner.body, body.trim()) ? '§' : `(${inner.body})`
        i = inner.end
      } else if (text[i] === ')') return { body, end: i }
      else body += text[i]
    }
    return { body, end: text.length }
  }
  add(read(0).body, '')
  return blocks
}

export const parseStatement = (source: string, distributed: ReadonlySet<string>): Statement => {
  const text = source
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/\$\d+/g, '?')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const blocks = blocksOf(text, distributed)
  return {
    isForAllOrgs: source.includes('-- all orgs'),
    text,
    blocks,
    isDistributed: blocks.some(({ tables }) => tables.length > 0),
  }
}

const time = String.raw`(?:now\(\)|statement_timestamp\(\)|current_timestamp|current_date)`
const namesOrg = ({ text }: Block): boolean => /\borg_id = \?/.test(text)
const changes = (block: Block): boolean => block.kind !== 'select' && block.tables.length > 0
/** Whether the block compares the org of its tables with that of another query. */
const takesOrg = ({ text, tables }: Block): boolean =>
  Array.from(text.matchAll(/\b(\w+)\.org_id = (\w+)\.org_id\b/g), ([, left, right]) => [left, right]).some((pair) =>
    pair.some((name) => tables.every(({ alias }) => alias !== name)),
  )

const becomesJoin = /^(?!.*\bor\b).*\bwhere\b(?:.*\band)? (?:not )?exists$/
const rowLock = /\bfor (?:no key update|update|key share|share)\b/

/** The blocks that contain this one. */
const around = (blocks: Block[], { after }: Block): Block[] =>
  after === '' ? [] : blocks.filter(({ text }) => text.startsWith(after))

/** The first block of distributed tables that does not name its org by a parameter. */
const withoutOrg = (blocks: Block[]): string | undefined =>
  blocks.find((block) => block.tables.length > 0 && !namesOrg(block))?.text

const inBlocks =
  (applies: (block: Block) => boolean, pattern: RegExp) =>
  ({ blocks }: Statement): string | undefined =>
    blocks.flatMap((block) => (applies(block) ? (pattern.exec(block.text)?.[0] ?? []) : [])).at(0)

const coordinatorTable = /\bfrom (?:members|invitations|workspaces|workspace_members|api_keys|orgs|users)\b/

const volatile = /\b(?:clock_timestamp|timeofday|random|gen_random_uuid|uuidv7|nextval)\(/

export const shardRules: ShardRule[] = [
  {
    name: 'volatile function',
    why: 'Updates reject it. Use statement_timestamp() in place of clock_timestamp(), and parameters for random values.',
    find: ({ text, isDistributed }) => (isDistributed ? volatile.exec(text)?.[0] : undefined),
  },
  {
    name: 'volatile function in an update',
    why: 'It is rejected, unlike in the values of an insert. Pass the value as a parameter.',
    find: inBlocks((block) => changes(block) && block.kind !== 'insert', volatile),
  },
  {
    name: 'time in CASE or COALESCE of an update',
    why: 'It is rejected. Put the whole time expression into a subquery: (select now()).',
    find: inBlocks(
      (block) => changes(block) && block.kind !== 'insert',
      new RegExp(String.raw`\b(?:case\b(?:(?!\bend\b).)*|coalesce\([^()]*)${time}`),
    ),
  },
  {
    name: 'time or stable function in RETURNING',
    why: 'It is rejected. Put it into a subquery: (select now()), (select updated_at::text). Ranges need no cast: they arrive as text.',
    find: inBlocks(
      changes,
      new RegExp(String.raw`\breturning\b.*?(?:${time}|\bto_char\(|\bjson_build_object\(|\b(?:\w+_at|skipped)::text)`),
    ),
  },
  {
    name: 'time or subquery in ON CONFLICT',
    why: 'DO UPDATE accepts immutable functions only. Use the inserted value: excluded.updated_at.',
    find: inBlocks(changes, new RegExp(String.raw`\bdo update\b(?:(?!\breturning\b).)*?(?:${time}|§)`)),
  },
  {
    name: 'subquery in an insert of values',
    why: 'It is rejected, also in RETURNING. Insert the rows of a SELECT, or compute the value before.',
    find: inBlocks(
      ({ kind, tables }) => kind === 'insert' && tables.length > 0,
      /\binto \w+(?: as \w+)? \([^)]*\) values\b.*§/,
    ),
  },
  {
    name: 'stable operator with a column in a change',
    why: 'Adding an interval to a column is rejected. Compute the time in a CTE or a subquery without tables.',
    find: inBlocks(
      changes,
      new RegExp(
        String.raw`\b\w*(?:_at|_until|deadline) [+-] (?:\? \* )?(?:interval|make_interval)|${time} [+-] [^,(]*\b\w+\.\w+ \* interval`,
      ),
    ),
  },
  {
    name: 'ctid',
    why: 'It is unique within a shard only. Delete batches by primary key.',
    find: ({ text, isDistributed }) => (isDistributed ? /\bctid\b/.exec(text)?.[0] : undefined),
  },
  {
    name: 'row lock across shards',
    why: 'Rows are locked for one org at a time, which the query and its subqueries name by a parameter.',
    find: ({ blocks }) => {
      const locking = blocks.filter((block) => rowLock.test(block.text) && block.tables.length > 0)
      const nested = blocks.filter((block) => around(blocks, block).some((outer) => locking.includes(outer)))
      return withoutOrg([...locking, ...nested])
    },
  },
  {
    name: 'row lock with a join in a CTE',
    why: 'Citus 13 writes its result in one format and reads it in another. Select from one table.',
    find: inBlocks(
      ({ isCte, tables }) => isCte && tables.length > 0,
      /^select\b(?=.*\bfor (?:no key update|update|key share|share)\b).*\bjoin\b/,
    ),
  },
  {
    name: 'recursion across shards',
    why: 'Each part of a recursive query names its org by a parameter. For the orgs with work, read pages of rows.',
    find: ({ text, blocks }) => (/\bwith recursive\b/.test(text) ? withoutOrg(blocks) : undefined),
  },
  {
    name: 'lateral join across shards',
    why: 'A lateral subquery names its org by a parameter.',
    find: ({ blocks }) => withoutOrg(blocks.filter(({ after }) => /\blateral$/.test(after))),
  },
  {
    name: 'correlated subquery outside of a shard',
    why: 'Its outer query must have a distributed table, or it names its org by a parameter. Send two statements.',
    find: ({ blocks }) =>
      withoutOrg(
        blocks.filter(
          (block) =>
            /\borg_id = \w+\.org_id\b/.test(block.text) &&
            !block.isCte &&
            !/\blateral$/.test(block.after) &&
            around(blocks, block).some((outer) => outer.tables.length === 0 && !namesOrg(outer)),
        ),
      ),
  },
  {
    name: 'org of another query',
    why: 'Citus sends the query to every shard, and locks all of them when it changes rows, or rejects the statement. A query names its org by a parameter. Only an EXISTS that is a condition of WHERE becomes a join.',
    find: ({ isForAllOrgs, blocks }) =>
      isForAllOrgs
        ? undefined
        : blocks.find(
            (block) =>
              block.kind !== 'insert' &&
              block.tables.length > 0 &&
              !namesOrg(block) &&
              // Look-ups name it where tables are distributed.
              !/\blateral$/.test(block.after) &&
              !/\basked\.org_id \?/.test(block.text) &&
              !becomesJoin.test(block.after) &&
              takesOrg(block),
          )?.text,
  },
  {
    name: 'table of the coordinator in a condition',
    why: 'Citus rejects direct joins between distributed and local tables. Send two statements.',
    // In a list of columns, Citus computes it first.
    find: ({ isDistributed, blocks }) =>
      isDistributed
        ? blocks.find(
            ({ text, after }) =>
              coordinatorTable.test(text) &&
              /\b(?:exists|in)$/.test(after) &&
              !/^(?:with § )?select\b(?!.* where )/.test(after),
          )?.text
        : undefined,
  },
  {
    name: 'all people joined to rows of a shard',
    why: 'Citus copies the table `users` for each statement. Read the people by their ids in a statement of their own.',
    find: inBlocks(({ tables }) => tables.length > 0, /\bjoin users\b/),
  },
  {
    name: 'table without org_id',
    why: 'Each table is selected or joined by org_id. Without it, a statement of one org asks every shard.',
    find: ({ isForAllOrgs, blocks }) => {
      for (const { kind, text, tables } of blocks) {
        if (isForAllOrgs && tables.length < 2) continue
        const only = tables.length === 1
        const missing = tables.find(({ alias }, index) => {
          if (kind === 'insert' && index === 0 && /\binto \w+(?: as \w+)? \(org_id\b/.test(text)) return false
          const named = new RegExp(String.raw`(?:\b${alias}|\?)\.org_id\b|using \([^)]*\borg_id\b`)
          return !named.test(text) && !(only && /(?<![.\w])org_id\b/.test(text)) && !/(?<![.\w])org_id = \?/.test(text)
        })
        if (missing) return `${missing.table}: ${text}`
      }
      return undefined
    },
  },
  {
    name: 'conflict target without org_id',
    why: 'A unique index of a distributed table contains org_id.',
    find: inBlocks(changes, /\bon conflict \((?![^)]*\borg_id\b)[^)]*\)/),
  },
  {
    name: 'insert without org_id',
    why: 'The inserted row names its shard.',
    find: inBlocks(
      ({ kind, tables }) => kind === 'insert' && tables.length > 0,
      /^.*\binto \w+(?: as \w+)? \((?![^)]*\borg_id\b)[^)]*\)/,
    ),
  },
]
