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

export { formatBytes } from './message.ts'

/** Quotas with counters; the others count rows. */
export type CountedQuota = Exclude<QuotaName, RowQuota>
export type Amounts = Partial<Record<CountedQuota, number>>

/** The error of a request that would exceed a quota: PAYMENT_REQUIRED when a larger plan can be bought, else FORBIDDEN. */
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
  /** The part of `used` in the trash; null when the trash does not count. */
  trashed: number | null
  unit: 'bytes' | 'count'
  /** Null on a server without plans. */
  plan: string | null
  source: 'plan' | 'operator'
  lastRefusedAt: string | null
}

export interface Quotas {
  /** Throws QuotaExceeded when `requested` exceeds a quota, before the body is read. Outside of transactions. */
  check(orgId: string, requested: Amounts): Promise<void>
  /**
   * The same check in the transaction of the insert, right before it. Without a query when the org is far from its limits;
   * near one, it locks the org's usage until the transaction ends. Call it before the audit log is written.
   */
  checkInsert(db: Transaction, orgId: string, requested: Amounts): Promise<void>
  /** Checks one more row, counted exactly under the same lock. `isCounted`: the new row was inserted before the check. */
  checkRow(db: Transaction, orgId: string, name: RowQuota, isCounted?: boolean): Promise<void>
  /** Whether `checkInsert` of one would lock. Outside of transactions. */
  isNear(orgId: string, name: CountedQuota): Promise<boolean>
  /** Records a rejected request for the org's members. Never throws. Outside of transactions. */
  recordRejection(error: unknown): Promise<void>
  list(orgId: string): Promise<QuotaRow[]>
}

export interface QuotaOptions {
  db: Database
  log: Log
  /** Quotas of orgs without a plan, on a server without a free plan. */
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
  trashed: Partial<Record<QuotaName, number>>
}

/** How long a process relies on a cached state of an org that is far from its limits. */
const maxAgeMs = 5_000
const maxKnownOrgs = 10_000
/** Within a tenth of a limit, or within this distance, every request is counted exactly. */
const headroom: Record<CountedQuota, number> = { storedBytes: 4_294_967_296, files: 1_000, eventsKept: 50_000 }
/** Repeated rejections of one quota of an org are recorded once per interval. */
const recordEveryMs = 60_000

const counted = ['storedBytes', 'files', 'eventsKept'] as const satisfies CountedQuota[]

const isNearLimit = ({ limits, used }: State, name: CountedQuota, requested: number): boolean => {
  const limit = limits[name]
  return limit !== null && limit - used[name] - requested < Math.max(limit / 10, headroom[name])
}

const isNearAny = (state: State, requested: Amounts): boolean =>
  counted.some((name) => requested[name] !== undefined && isNearLimit(state, name, requested[name]))

const stateFrom = (row: StateRow | undefined, { plans, defaults }: QuotaOptions): State => {
  const freePlan = plans.find(({ id }) => id === 'free') ?? plans.find(({ priceCents }) => priceCents === 0)
  // Subscribers of a plan that was removed from the file have the default quotas.
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
    trashed: { storedBytes: Number(row?.trashedBytes ?? 0), files: Number(row?.trashedFiles ?? 0) },
  }
}

/** A cache of the limits and usage of orgs. */
const createStates = (options: QuotaOptions) => {
  const known = new Map<string, State>()

  const load = async (db: Db, orgId: string): Promise<State> => {
    const state = stateFrom(await queries.findState(db, orgId), options)
    if (known.size >= maxKnownOrgs && !known.has(orgId)) known.clear()
    known.set(orgId, state)
    return state
  }

  /** A state that is at most 5 s old. While one caller reloads it, the others use the old one. */
  const recent = (db: Db, orgId: string): State | Promise<State> => {
    const state = known.get(orgId)
    if (!state) return load(db, orgId)
    if (Date.now() - state.atMs < maxAgeMs) return state
    state.atMs = Date.now()
    return load(db, orgId)
  }

  return { load, recent }
}

const createRejectionRecorder = ({ db: database, log }: QuotaOptions): Quotas['recordRejection'] => {
  const recordedMs = new Map<string, number>()
  const write = (orgId: string, quota: QuotaName): Promise<void> =>
    database.transaction({ orgId }, async (db) => {
      const written = await queries.upsertRejection(db, orgId, quota)
      if (!written?.isNews) return
      await audit(db, systemActor(orgId, 'Atrium'), 'quota.exceeded', { type: 'quota', id: null, details: { quota } })
    })

  return async (error) => {
    if (!(error instanceof QuotaExceeded)) return
    const { orgId, quota } = error
    const key = `${orgId} ${quota}`
    const now = Date.now()
    if (now - (recordedMs.get(key) ?? 0) < recordEveryMs) return
    if (recordedMs.size >= maxKnownOrgs) recordedMs.clear()
    recordedMs.set(key, now)
    try {
      await write(orgId, quota)
    } catch (cause) {
      log.warn({ err: cause, orgId, quota }, 'an exceeded quota was not recorded')
    }
  }
}

const listQuotas = async (db: Db, orgId: string, state: State): Promise<QuotaRow[]> => {
  const rejections = await queries.listRejections(db, orgId)
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
    trashed: state.trashed[name] ?? null,
    unit: name === 'storedBytes' ? 'bytes' : 'count',
    plan: state.planId,
    source: state.overridden.has(name) ? 'operator' : 'plan',
    lastRefusedAt: rejections.find((rejection) => rejection.name === name)?.refusedAt ?? null,
  }))
}

/** The quotas of one process. docs/decisions/0027-quotas.md describes when they are exact. */
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

  const checkExactly = (orgId: string, state: State, requested: Amounts): void => {
    for (const name of counted) {
      const limit = state.limits[name]
      const amount = requested[name]
      // An empty file is accepted even when the org is over its quota.
      if (limit === null || amount === undefined || amount === 0) continue
      const used = state.used[name]
      const trashed = state.trashed[name] ?? 0
      if (used + amount > limit) throw exceeded(orgId, state, { name, limit, used, requested: amount, trashed })
    }
  }

  return {
    check: async (orgId, requested) => {
      if (isNearAny(await recent(database, orgId), requested))
        checkExactly(orgId, await load(database, orgId), requested)
    },
    checkInsert: async (db, orgId, requested) => {
      if (!isNearAny(await recent(db, orgId), requested)) return
      await queries.lockUsage(db, orgId)
      // A separate statement, which sees what was committed while this one waited for the lock.
      checkExactly(orgId, await load(db, orgId), requested)
    },
    checkRow: async (db, orgId, name, isCounted = false) => {
      if ((await recent(db, orgId)).limits[name] === null) return
      await queries.lockUsage(db, orgId)
      const state = await load(db, orgId)
      const limit = state.limits[name]
      if (limit === null) return
      const own = isCounted ? 1 : 0
      const used = (await queries.countRows(db, orgId, name, limit + 1 + own)) - own
      if (used >= limit) throw exceeded(orgId, state, { name, limit, used, requested: 1 })
    },
    isNear: async (orgId, name) => isNearLimit(await recent(database, orgId), name, 1),
    recordRejection: createRejectionRecorder(options),
    list: async (orgId) => listQuotas(database, orgId, await load(database, orgId)),
  }
}
