import { AsyncLocalStorage } from 'node:async_hooks'
import { createAdapterFactory } from 'better-auth/adapters'
import type { CleanedWhere } from 'better-auth/adapters'
import { empty, join, raw, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Reach } from './reach.ts'

const tables: Record<string, string> = {
  user: 'users',
  session: 'sign_in_sessions',
  account: 'sign_in_accounts',
  verification: 'sign_in_verifications',
  twoFactor: 'two_factors',
}

const table = (model: string): Sql => {
  const name = tables[model]
  if (name === undefined) throw new Error(`there is no table for ${model}`)
  return raw(name)
}

// Names come from the library, never from a request; the check keeps it so.
const column = (field: string): Sql => {
  if (!/^[a-z][A-Za-z0-9]*$/.test(field)) throw new Error(`${field} is not the name of a column`)
  return raw(field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

const comparisons: Record<string, string> = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' }

const condition = ({ field, value, operator, connector, mode }: CleanedWhere): Sql => {
  if (connector === 'OR' || mode === 'insensitive') throw new Error(`conditions of ${connector}, ${mode} are not known`)
  if (operator === 'in' && Array.isArray(value)) return sql`${column(field)} = any(${value})`
  const comparison = comparisons[operator ?? 'eq']
  if (comparison === undefined) throw new Error(`comparisons of ${operator} are not known`)
  if (value === null) return operator === 'eq' ? sql`${column(field)} is null` : sql`${column(field)} is not null`
  return sql`${column(field)} ${raw(comparison)} ${value}`
}

const where = (conditions: CleanedWhere[] = [], more: Sql[] = []): Sql => {
  const all = [...conditions.map(condition), ...more]
  return all.length === 0 ? empty : sql`where ${join(all, ' and ')}`
}

const assignments = (values: Record<string, unknown>): Sql =>
  join(Object.entries(values).map(([field, value]) => sql`${column(field)} = ${value as string}`))

const sums = (increment: Record<string, number>): Sql[] =>
  Object.entries(increment).map(([field, delta]) => sql`${column(field)} = coalesce(${column(field)}, 0) + ${delta}`)

interface SortBy {
  field: string
  direction: 'asc' | 'desc'
}

const orderBy = (sortBy: SortBy | undefined): Sql =>
  sortBy === undefined
    ? empty
    : sql`order by ${column(sortBy.field)} ${raw(sortBy.direction === 'desc' ? 'desc' : 'asc')}`

const insert = (db: Db, model: string, data: Record<string, unknown>) => {
  const columns = join(Object.keys(data).map(column))
  const values = join(Object.values(data).map((value) => sql`${value as string}`))
  return db.row<Record<string, unknown>>(sql`insert into ${table(model)} (${columns}) values (${values}) returning *`)
}

const update = (db: Db, model: string, values: Sql, conditions: CleanedWhere[]) =>
  db.rows<Record<string, unknown>>(sql`update ${table(model)} set ${values} ${where(conditions)} returning *`)

/** What is good for every org of the scope. */
const coveringScope = (reach: Reach): Sql =>
  reach === null ? sql`reach is null` : sql`(reach is null or reach @> ${reach}::uuid[])`

/** What is good for orgs of the scope and for no others. */
const withinScope = (reach: Reach): Sql => (reach === null ? sql`true` : sql`reach <@ ${reach}::uuid[]`)

// Whether a person has a second factor is no column: it depends on the scope.
const stored = (model: string, values: Record<string, unknown>): Record<string, unknown> =>
  model === 'user'
    ? Object.fromEntries(Object.entries(values).filter(([field]) => field !== 'twoFactorEnabled'))
    : values

/** What opens something: a row of these says which orgs, and what is made from it opens no others. */
const opensOrgs = new Set(['session', 'verification', 'account', 'twoFactor'])

/** A person has one of these for each org scope, and the library sees the one that the call's scope uses. */
const scoped = new Set(['account', 'twoFactor'])

interface Work {
  db: Db
  /** Undefined until a proof, a session or a challenge said it. */
  reach: Reach | undefined
  /** Whose session or challenge the call comes with. */
  userId: string | undefined
  /** The salt that new passwords of the person use; see passwords.ts. */
  salt: string | undefined
}

/** The transaction that the library works in, and how far what it makes there may reach. */
const trackReach = () => {
  const transaction = new AsyncLocalStorage<Work>()

  const within = <T>(db: Db, work: () => Promise<T>): Promise<T> =>
    transaction.run({ db, reach: undefined, userId: undefined, salt: undefined }, work)
  /** Which orgs the call opens. Throws when nothing has said it. */
  const reachNow = (): Reach => {
    const reach = transaction.getStore()?.reach
    if (reach === undefined) throw new Error('nothing has said which orgs this opens')
    return reach
  }
  /** Says which orgs the proof opens that was just made. */
  const opening = (reach: Reach): void => {
    const work = transaction.getStore()
    if (!work) throw new Error('there is no transaction that could open something')
    work.reach = reach
  }
  /** The first session or challenge that is read is where the call comes from. */
  const noted = <Row>(model: string, row: Row): Row => {
    const work = transaction.getStore()
    const { reach, userId, value } = (row ?? {}) as { reach?: Reach; userId?: string; value?: string }
    const isOrigin = model === 'session' || model === 'verification'
    if (work && isOrigin && reach !== undefined) {
      if (work.reach === undefined) work.reach = reach
      // The first challenge that is read has the person as its value; another one, read later, counts attempts.
      work.userId ??= userId ?? value
    }
    return row
  }
  const userNow = (): string | undefined => transaction.getStore()?.userId
  const saltNow = (): string | undefined => transaction.getStore()?.salt
  const salting = (salt: string | undefined): void => {
    const work = transaction.getStore()
    if (work) work.salt = salt
  }
  /** Signing out ends the one session that it names, whatever it opens. */
  const sessionScope = (model: string): Sql[] =>
    model === 'session' && transaction.getStore() ? [withinScope(reachNow())] : []
  const columnsOf = (model: string): Sql => {
    const work = transaction.getStore()
    if (model !== 'user' || work?.reach === undefined) return sql`*`
    return sql`users.*, exists (
      select from two_factors where user_id = users.id and verified and ${coveringScope(work.reach)}) as two_factor_enabled`
  }
  /** Only what covers the scope of the call. */
  const scopeOf = (model: string): Sql[] => (scoped.has(model) ? [coveringScope(reachNow())] : [])
  const limited = (model: string, data: Record<string, unknown>): Record<string, unknown> =>
    opensOrgs.has(model) ? { ...data, reach: reachNow() } : data
  return {
    transaction,
    within,
    reachNow,
    userNow,
    saltNow,
    salting,
    opening,
    noted,
    limited,
    columnsOf,
    sessionScope,
    scopeOf,
  }
}

/**
 * Where Better Auth keeps people, sessions and second factors: our tables, through our connections. `db` by default;
 * inside `within(db, work)` that transaction, so that what the library changes and what we add to it (the audit entry,
 * the used-up code) come true together or not at all.
 */
export const createAuthStorage = (db: Db) => {
  const { transaction, within, reachNow, opening, noted, limited, columnsOf, sessionScope, scopeOf, ...now } =
    trackReach()
  const current = (): Db => transaction.getStore()?.db ?? db

  const adapter = createAdapterFactory({
    config: {
      adapterId: 'atrium',
      // Our rows carry timestamps as ISO texts.
      supportsDates: false,
      supportsUUIDs: true,
      customIdGenerator: newId,
      transaction: false,
    },
    adapter: ({ getDefaultModelName }) => {
      const named = (model: string): string => getDefaultModelName(model)
      return {
        create: async ({ model, data }) =>
          (await insert(current(), named(model), limited(named(model), data))) as typeof data,
        findOne: async <T>({ model, where: conditions }: { model: string; where: CleanedWhere[] }) =>
          noted(
            named(model),
            (await current().row(sql`
              select ${columnsOf(named(model))} from ${table(named(model))}
              ${where(conditions, scopeOf(named(model)))} limit 1`)) ?? null,
          ) as T | null,
        findMany: async <T>(query: {
          model: string
          where?: CleanedWhere[] | undefined
          limit: number
          offset?: number | undefined
          sortBy?: SortBy | undefined
        }) => {
          const rows = await current().rows<T>(sql`
            select ${columnsOf(named(query.model))} from ${table(named(query.model))}
            ${where(query.where, scopeOf(named(query.model)))} ${orderBy(query.sortBy)}
            limit ${query.limit} offset ${query.offset ?? 0}`)
          noted(named(query.model), rows[0])
          return rows
        },
        count: async ({ model, where: conditions }) =>
          (
            await current().row<{ count: number }>(
              sql`select count(*)::int as count from ${table(named(model))} ${where(conditions, scopeOf(named(model)))}`,
            )
          )?.count ?? 0,
        update: async <T>(change: { model: string; where: CleanedWhere[]; update: T }) => {
          const values = assignments(stored(named(change.model), change.update as Record<string, unknown>))
          const [row] = await update(current(), named(change.model), values, change.where)
          return (row && { ...row, ...change.update }) as T | null
        },
        updateMany: async (change) =>
          (await update(current(), named(change.model), assignments(change.update), change.where)).length,
        delete: async ({ model, where: conditions }) => {
          await current().execute(sql`delete from ${table(named(model))} ${where(conditions)}`)
        },
        // Ending all sessions of a person ends those of the scope that the call may decide about.
        deleteMany: ({ model, where: conditions }) =>
          current().execute(sql`
            delete from ${table(named(model))}
            ${where(conditions, sessionScope(named(model)))}`),
        // Of several who want the same row, the first to delete it has it and the others find it gone.
        consumeOne: async <T>({ model, where: conditions }: { model: string; where: CleanedWhere[] }) =>
          ((await current().row(sql`
            delete from ${table(named(model))} where id = (
              select id from ${table(named(model))} ${where(conditions)} limit 1)
            returning *`)) ?? null) as T | null,
        incrementOne: async <T>(change: {
          model: string
          where: CleanedWhere[]
          increment: Record<string, number>
          set?: Record<string, unknown> | undefined
        }) => {
          const set = Object.keys(change.set ?? {}).length === 0 ? [] : [assignments(change.set ?? {})]
          const values = join([...sums(change.increment), ...set])
          const [row] = await update(current(), named(change.model), values, change.where)
          return (row ?? null) as T | null
        },
      }
    },
  })

  return { adapter, within, reachNow, opening, ...now }
}
