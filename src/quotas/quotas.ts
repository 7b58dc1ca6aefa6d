import type { Plan } from '../config-billing.ts'
import { quotaNames } from '../config-quotas.ts'
import type { QuotaLimits, QuotaName } from '../config-quotas.ts'
import { systemActor } from '../identity/actor.ts'
import { audit } from '../identity/audit.ts'
import type { Database, Db, Transaction } from '../platform/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
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
const headroom: Record<CountedQuota, number> = { storedBytes: 4_000_000_000, files: 1_000, eventsKept: 50_000 }
/** A sender that goes on and on is written down once in a while. */
const noteEveryMs = 60_000

const counted = ['storedBytes', 'files', 'eventsKept'] as const satisfies CountedQuota[]

export const createQuotas = (options: QuotaOptions): Quotas => {
  const { db: database, log, defaults, plans, takesPayments } = options
  const known = new Map<string, State>()
  const noted = new Map<string, number>()
  const freePlan = plans.find(({ id }) => id === 'free') ?? plans.find(({ priceCents }) => priceCents === 0)

  const stateOf = (row: StateRow | undefined): State => {
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

  const load = async (db: Db, orgId: string): Promise<State> => {
    const state = stateOf(await queries.findState(db, orgId))
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

  const isNearLimit = ({ limits, used }: State, name: CountedQuota, asked: number): boolean => {
    const limit = limits[name]
    return limit !== null && limit - used[name] - asked < Math.max(limit / 10, headroom[name])
  }
  const isNearAny = (state: State, asked: Amounts): boolean =>
    counted.some((name) => asked[name] !== undefined && isNearLimit(state, name, asked[name]))

  const exceeded = (orgId: string, state: State, excess: Excess): QuotaExceeded => {
    const larger = plans.some(({ priceCents, quotas }) => {
      const limit = quotas[excess.name]
      return priceCents !== null && priceCents > 0 && (limit === null || limit > excess.limit)
    })
    return new QuotaExceeded(orgId, excess, takesPayments && larger && !state.overridden.has(excess.name))
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

  const noteOnce = async ({ orgId, quota }: QuotaExceeded): Promise<void> => {
    const key = `${orgId} ${quota}`
    const now = Date.now()
    if (now - (noted.get(key) ?? 0) < noteEveryMs) return
    if (noted.size >= maxKnownOrgs) noted.clear()
    noted.set(key, now)
    await database.transaction(async (db) => {
      const written = await queries.upsertRefusal(db, orgId, quota)
      if (!written?.isNews) return
      await audit(db, systemActor(orgId, 'Atrium'), 'quota.exceeded', { type: 'quota', id: null }, { quota })
    })
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
      const found = await queries.countRows(db, orgId, name, limit + 1 + own)
      if (found - own >= limit) throw exceeded(orgId, state, { name, limit, used: found - own, asked: 1 })
    },
    isNear: async (orgId, name) => isNearLimit(await recent(database, orgId), name, 1),
    noteRefusal: async (error) => {
      if (!(error instanceof QuotaExceeded)) return
      await noteOnce(error).catch((cause: unknown) => {
        log.warn({ err: cause, orgId: error.orgId, quota: error.quota }, 'an exceeded quota was not written down')
      })
    },
    list: async (orgId) => {
      const state = await load(database, orgId)
      const refusals = await queries.listRefusals(database, orgId)
      const used: Record<QuotaName, number> = {
        ...state.used,
        webhooks: await queries.countRows(database, orgId, 'webhooks'),
        agents: await queries.countRows(database, orgId, 'agents'),
        connections: await queries.countRows(database, orgId, 'connections'),
      }
      return quotaNames.map((name) => ({
        name,
        limit: state.limits[name],
        used: used[name],
        unit: name === 'storedBytes' ? ('bytes' as const) : ('count' as const),
        plan: state.planId,
        source: state.overridden.has(name) ? ('operator' as const) : ('plan' as const),
        lastRefusedAt: refusals.find((refusal) => refusal.name === name)?.refusedAt ?? null,
      }))
    },
  }
}
