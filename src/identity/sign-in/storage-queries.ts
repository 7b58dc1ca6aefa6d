import { AsyncLocalStorage } from 'node:async_hooks'
import { createAdapterFactory } from 'better-auth/adapters'
import type { CleanedWhere } from 'better-auth/adapters'
import { empty, join, raw, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { lockPerson } from '../members/person-queries.ts'
import type { OrgScope } from './org-scope.ts'

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

// Names come from Better Auth, never from a request; the check enforces that.
const column = (field: string): Sql => {
  if (!/^[a-z][A-Za-z0-9]*$/.test(field)) throw new Error(`${field} is not the name of a column`)
  return raw(field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

const comparisons: Record<string, string> = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' }

const condition = ({ field, value, operator, connector, mode }: CleanedWhere): Sql => {
  if (connector === 'OR' || mode === 'insensitive')
    throw new Error(`conditions with ${connector} and ${mode} are not supported`)
  if (operator === 'in' && Array.isArray(value)) return sql`${column(field)} = any(${value})`
  const comparison = comparisons[operator ?? 'eq']
  if (comparison === undefined) throw new Error(`the comparison ${operator} is not supported`)
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

/** Rows whose scope covers every org of the scope. */
const coveringScope = (reach: OrgScope): Sql =>
  reach === null ? sql`reach is null` : sql`(reach is null or reach @> ${reach}::uuid[])`

/** Rows whose scope has only orgs of the scope. */
const withinScope = (reach: OrgScope): Sql => (reach === null ? sql`true` : sql`reach <@ ${reach}::uuid[]`)

// `twoFactorEnabled` is computed, because it depends on the scope.
const stored = (model: string, values: Record<string, unknown>): Record<string, unknown> =>
  model === 'user'
    ? Object.fromEntries(Object.entries(values).filter(([field]) => field !== 'twoFactorEnabled'))
    : values

/** Models with a scope. Rows that are created in a call get the scope of the call. */
const scopedModels = new Set(['session', 'verification', 'account', 'twoFactor'])

/** Models of which a person has one per scope. Better Auth reads the one that covers the scope of the call. */
const onePerScope = new Set(['account', 'twoFactor'])

interface Work {
  db: Db
  /** Undefined until a proof, a session or a challenge determines it. */
  orgScope: OrgScope | undefined
  /** The person of the session or challenge that the call comes with. */
  userId: string | undefined
  /** The hash of the password that the call compares, which was compared before the transaction. */
  provenHash: string | undefined
  /** The hash of the password that the call sets, which was calculated before the transaction. */
  newHash: string | undefined
}

/** The transaction that Better Auth works in, and the org scope of the call. */
const trackScope = () => {
  const transaction = new AsyncLocalStorage<Work>()

  const within = <T>(db: Db, work: () => Promise<T>): Promise<T> =>
    transaction.run({ db, orgScope: undefined, userId: undefined, provenHash: undefined, newHash: undefined }, work)
  /** The scope of the call. Throws when nothing has determined it. */
  const currentScope = (): OrgScope => {
    const orgScope = transaction.getStore()?.orgScope
    if (orgScope === undefined) throw new Error('the org scope of the call is not determined')
    return orgScope
  }
  /** Sets the scope of a proof that was just made. */
  const setScope = (orgScope: OrgScope): void => {
    const work = transaction.getStore()
    if (!work) throw new Error('setScope is called outside of a transaction')
    work.orgScope = orgScope
  }
  /** The first session or challenge that is read determines the scope and the person of the call. */
  const observed = <Row>(model: string, row: Row): Row => {
    const work = transaction.getStore()
    const { reach, userId, value } = (row ?? {}) as { reach?: OrgScope; userId?: string; value?: string }
    const isOrigin = model === 'session' || model === 'verification'
    if (work && isOrigin && reach !== undefined) {
      if (work.orgScope === undefined) work.orgScope = reach
      // The first challenge that is read has the person as its value; one that is read later counts attempts.
      work.userId ??= userId ?? value
    }
    return row
  }
  const currentUser = (): string | undefined => transaction.getStore()?.userId
  /** Whether the password with this hash was proved before the transaction. */
  const isProven = (hash: string): boolean => transaction.getStore()?.provenHash === hash
  /** The hash of the new password. Throws when it was not calculated before the transaction. */
  const newHash = (): string => {
    const hash = transaction.getStore()?.newHash
    if (hash === undefined) throw new Error('the new password is not hashed')
    return hash
  }
  /** Hands the hashes to the calls of this transaction. */
  const setHashes = (hashes: { provenHash?: string | undefined; newHash?: string | undefined }): void => {
    const work = transaction.getStore()
    if (!work) throw new Error('setHashes is called outside of a transaction')
    Object.assign(work, hashes)
  }
  /** Ending all sessions of a person ends those within the scope. Outside of a transaction (sign-out) it is one session. */
  const sessionScope = (model: string): Sql[] =>
    model === 'session' && transaction.getStore() ? [withinScope(currentScope())] : []
  const columnsOf = (model: string): Sql => {
    const work = transaction.getStore()
    if (model !== 'user' || work?.orgScope === undefined) return sql`*`
    return sql`users.*, exists (
      select from two_factors where user_id = users.id and verified and ${coveringScope(work.orgScope)}) as two_factor_enabled`
  }
  /** The condition for models of which a person has one per scope. */
  const scopeOf = (model: string): Sql[] => (onePerScope.has(model) ? [coveringScope(currentScope())] : [])
  const withScope = (model: string, data: Record<string, unknown>): Record<string, unknown> =>
    scopedModels.has(model) ? { ...data, reach: currentScope() } : data
  /**
   * Better Auth reads a second factor, compares a code and counts a wrong one. Concurrent calls would all read the count
   * from before, so they wait for each other.
   */
  const lockFactorOf = async (db: Db, model: string, conditions: CleanedWhere[]): Promise<void> => {
    const userId = conditions.find(({ field }) => field === 'userId')?.value
    if (model === 'twoFactor' && transaction.getStore() && typeof userId === 'string') await lockPerson(db, userId)
  }
  return {
    transaction,
    lockFactorOf,
    within,
    currentScope,
    currentUser,
    isProven,
    newHash,
    setHashes,
    setScope,
    observed,
    withScope,
    columnsOf,
    sessionScope,
    scopeOf,
  }
}

/**
 * The database adapter of Better Auth: our tables, through our connections. Calls inside `within(db, work)` use that
 * transaction, so that changes by Better Auth commit together with ours (the audit entry, the used code).
 */
export const createAuthStorage = (db: Db) => {
  const { transaction, observed, withScope, columnsOf, sessionScope, scopeOf, lockFactorOf, ...exposed } = trackScope()
  const current = (): Db => transaction.getStore()?.db ?? db

  const adapter = createAdapterFactory({
    config: {
      adapterId: 'atrium',
      // Our rows have timestamps as ISO 8601 strings.
      supportsDates: false,
      supportsUUIDs: true,
      customIdGenerator: newId,
      transaction: false,
    },
    adapter: ({ getDefaultModelName }) => {
      const named = (model: string): string => getDefaultModelName(model)
      return {
        create: async ({ model, data }) =>
          (await insert(current(), named(model), withScope(named(model), data))) as typeof data,
        findOne: async <T>({ model, where: conditions }: { model: string; where: CleanedWhere[] }) => {
          await lockFactorOf(current(), named(model), conditions)
          const row = await current().row(sql`
            select ${columnsOf(named(model))} from ${table(named(model))}
            ${where(conditions, scopeOf(named(model)))} limit 1`)
          return observed(named(model), row ?? null) as T | null
        },
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
          observed(named(query.model), rows[0])
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
        deleteMany: ({ model, where: conditions }) =>
          current().execute(sql`
            delete from ${table(named(model))}
            ${where(conditions, sessionScope(named(model)))}`),
        // Of concurrent calls, the first to delete the row gets it and the others get none.
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

  return { adapter, ...exposed }
}
