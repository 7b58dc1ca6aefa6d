import type { Plan } from '../config/billing.ts'
import { quotaNames } from '../config/quotas.ts'
import type { QuotaLimits, QuotaName } from '../config/quotas.ts'
import { systemActor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import type { Database, Db, Transaction } from '../platform/database/database.ts'
import { ApiError } from '../platform/http/errors.ts'
import type { Log } from '../platform/process/log.ts'
import { excessMessage } from './message.ts'
import type { Excess } from './message.ts'
import * as queries from './queries.ts'
import type { RowQuota, StateRow } from './queries.ts'

/** What is counted by counters instead of by looking at rows. */
export type CountedQuota = Exclude<QuotaName, RowQuota>
export type Amounts = Partial<Record<CountedQuota, number>>

/** A request that would exceed a quota. PAYMENT_REQUIRED when a larger plan can be bought, else FORBIDDEN. */
export class QuotaExceeded extends ApiError {
  readonly orgId: string
  readonly quota: QuotaName

  constructor(orgId: string, excess: Excess, isUpgradable: boolean) {
    super(isUpgradable ? 'PAYMENT_REQUIRED' : 'FORBIDDEN', excessMessage(excess, isUpgradable))
    this.name = 'QuotaExceeded'
    this.orgId = orgId
    this.quota = excess.name
  }
}

export interface QuotaRow {
  name: QuotaName
  limit: number | null
  used: number
  unit: 'bytes' | 'count'
  /** Null: the server has no plans. */
  plan: string | null
  source: 'plan' | 'operator'
  lastRefusedAt: string | null
}

export interface Quotas {
  /** Rejects a request before its body is read when there is no room for it. Outside of transactions. */
  check(orgId: string, asked: Amounts): Promise<void>
  /**
   * The same in the transaction that counts `asked`, right before its insert. Far from the limits it asks the database
   * nothing; near one, it locks the org's usage until the transaction ends. Take it before the audit log is written.
   */
  take(db: Transaction, orgId: string, asked: Amounts): Promise<void>
  /** Room for one more row, counted exactly under the same lock. `isCounted`: the new row is among them already. */
  takeRow(db: Transaction, orgId: string, name: RowQuota, isCounted?: boolean): Promise<void>
  /** Whether `take` of one would lock. Outside of transactions. */
  isNear(orgId: string, name: CountedQuota): Promise<boolean>
  /** Writes down a rejected request, for the org's people. Never throws. Outside of transactions. */
  noteRefusal(error: unknown): Promise<void>
  list(orgId: string): Promise<QuotaRow[]>
}

export interface QuotaOptions {
  db: Database
  log: Log
  /** Of orgs without a plan, on a server whose plans have no free one. */
  defaults: QuotaLimits
  plans: readonly Plan[]
  takesPayments: boolean
}

interface State {
  atMs: number
  planId: string | null
  limits: QuotaLimits
  overridden: ReadonlySet<QuotaName>
  used: Record<CountedQuota, number>
}

/** For so long a process counts on what it has read, when that is far from the limits. */
const maxAgeMs = 5_000
const maxKnownOrgs = 10_000
/** Within a tenth of a limit, or within this, every request is counted exactly. */
const headroom: Record<CountedQuota, number> = { storedBytes: 4_294_967_296, files: 1_000, eventsKept: 50_000 }
/** A sender that goes on and on is written down once in a while. */
const noteEveryMs = 60_000

const counted = ['storedBytes', 'files', 'eventsKept'] as const satisfies CountedQuota[]

const isNearLimit = ({ limits, used }: State, name: CountedQuota, asked: number): boolean => {
  const limit = limits[name]
  return limit !== null && limit - used[name] - asked < Math.max(limit / 10, headroom[name])
}

const isNearAny = (state: State, asked: Amounts): boolean =>
  counted.some((name) => asked[name] !== undefined && isNearLimit(state, name, asked[name]))

const stateFrom = (row: StateRow | undefined, { plans, defaults }: QuotaOptions): State => {
  const freePlan = plans.find(({ id }) => id === 'free') ?? plans.find(({ priceCents }) => priceCents === 0)
  // A plan that was taken out of the file leaves its subscribers the defaults.
  const plan = row?.planId == null ? freePlan : plans.find(({ id }) => id === row.planId)
  const overrides = row?.overrides ?? {}
  return {
    atMs: Date.now(),
    planId: row?.planId ?? freePlan?.id ?? null,
    limits: { ...(plan?.quotas ?? defaults), ...overrides },
    overridden: new Set(Object.keys(overrides) as QuotaName[]),
    used: {
      storedBytes: Number(row?.storedBytes ?? 0),
      files: Number(row?.files ?? 0),
      eventsKept: Number(row?.eventsKept ?? 0),
    },
  }
}

/** What is known of each org's limits and usage. */
const createStates = (options: QuotaOptions) => {
  const known = new Map<string, State>()

  const load = async (db: Db, orgId: string): Promise<State> => {
    const state = stateFrom(await queries.findState(db, orgId), options)
    if (known.size >= maxKnownOrgs && !known.has(orgId)) known.clear()
    known.set(orgId, state)
    return state
  }

  /** At most 5 s old. While one caller reads it anew, the others go on with the old one. */
  const recent = (db: Db, orgId: string): State | Promise<State> => {
    const state = known.get(orgId)
    if (!state) return load(db, orgId)
    if (Date.now() - state.atMs < maxAgeMs) return state
    state.atMs = Date.now()
    return load(db, orgId)
  }

  return { load, recent }
}

/** Writes down rejected requests, so that the people of the org learn of them. */
const createRefusalNotes = ({ db: database, log }: QuotaOptions): Quotas['noteRefusal'] => {
  const notedMs = new Map<string, number>()
  const write = (orgId: string, quota: QuotaName): Promise<void> =>
    database.transaction({ orgId }, async (db) => {
      const written = await queries.upsertRefusal(db, orgId, quota)
      if (!written?.isNews) return
      await audit(db, systemActor(orgId, 'Atrium'), 'quota.exceeded', { type: 'quota', id: null, details: { quota } })
    })

  return async (error) => {
    if (!(error instanceof QuotaExceeded)) return
    const { orgId, quota } = error
    const key = `${orgId} ${quota}`
    const now = Date.now()
    if (now - (notedMs.get(key) ?? 0) < noteEveryMs) return
    if (notedMs.size >= maxKnownOrgs) notedMs.clear()
    notedMs.set(key, now)
    try {
      await write(orgId, quota)
    } catch (cause) {
      log.warn({ err: cause, orgId, quota }, 'an exceeded quota was not written down')
    }
  }
}

const listQuotas = async (db: Db, orgId: string, state: State): Promise<QuotaRow[]> => {
  const refusals = await queries.listRefusals(db, orgId)
  const used: Record<QuotaName, number> = {
    ...state.used,
    webhooks: await queries.countRows(db, orgId, 'webhooks'),
    agents: await queries.countRows(db, orgId, 'agents'),
    connections: await queries.countRows(db, orgId, 'connections'),
  }
  return quotaNames.map((name) => ({
    name,
    limit: state.limits[name],
    used: used[name],
    unit: name === 'storedBytes' ? 'bytes' : 'count',
    plan: state.planId,
    source: state.overridden.has(name) ? 'operator' : 'plan',
    lastRefusedAt: refusals.find((refusal) => refusal.name === name)?.refusedAt ?? null,
  }))
}

/** The rules of quotas for one process. See docs/decisions/0027-quotas.md for what is exact and when. */
export const createQuotas = (options: QuotaOptions): Quotas => {
  const { db: database, plans, takesPayments } = options
  const { load, recent } = createStates(options)

  const exceeded = (orgId: string, state: State, excess: Excess): QuotaExceeded => {
    const isLarger = plans.some(({ priceCents, quotas }) => {
      const limit = quotas[excess.name]
      return priceCents !== null && priceCents > 0 && (limit === null || limit > excess.limit)
    })
    return new QuotaExceeded(orgId, excess, takesPayments && isLarger && !state.overridden.has(excess.name))
  }

  const checkExactly = (orgId: string, state: State, asked: Amounts): void => {
    for (const name of counted) {
      const limit = state.limits[name]
      const amount = asked[name]
      // An empty file needs no room, even in an org that is over its quota.
      if (limit === null || amount === undefined || amount === 0) continue
      const used = state.used[name]
      if (used + amount > limit) throw exceeded(orgId, state, { name, limit, used, asked: amount })
    }
  }

  return {
    check: async (orgId, asked) => {
      if (isNearAny(await recent(database, orgId), asked)) checkExactly(orgId, await load(database, orgId), asked)
    },
    take: async (db, orgId, asked) => {
      if (!isNearAny(await recent(db, orgId), asked)) return
      await queries.lockUsage(db, orgId)
      // A statement of its own: it sees what was committed while the lock was waited for.
      checkExactly(orgId, await load(db, orgId), asked)
    },
    takeRow: async (db, orgId, name, isCounted = false) => {
      if ((await recent(db, orgId)).limits[name] === null) return
      await queries.lockUsage(db, orgId)
      const state = await load(db, orgId)
      const limit = state.limits[name]
      if (limit === null) return
      const own = isCounted ? 1 : 0
      const used = (await queries.countRows(db, orgId, name, limit + 1 + own)) - own
      if (used >= limit) throw exceeded(orgId, state, { name, limit, used, asked: 1 })
    },
    isNear: async (orgId, name) => isNearLimit(await recent(database, orgId), name, 1),
    noteRefusal: createRefusalNotes(options),
    list: async (orgId) => listQuotas(database, orgId, await load(database, orgId)),
  }
}
