import type { Actor } from '../../identity/actor.ts'
import { may } from '../../identity/actor.ts'
import { seesAllWorkspaces } from '../../identity/permissions.ts'
import type { Db } from '../../platform/database/database.ts'
import type { LedgerDeps } from '../ledger/ledger.ts'
import { settle } from '../ledger/ledger.ts'
import { freeze } from '../ledger/queries.ts'
import { wholeCents } from '../ledger/money.ts'
import { dayOf, daysBetween, spanOf } from '../periods.ts'
import type { Span } from '../periods.ts'
import * as queries from './queries.ts'
import type { Range, Sums } from './queries.ts'

/** What the reports need to know of the model catalog. */
export interface ModelNames {
  find(id: string): { name: string } | undefined
}

const nothing: Sums = {
  requestCount: 0,
  byokRequestCount: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  providerCostMicrocents: 0n,
  platformFeeMicrocents: 0n,
  chargedMicrocents: 0n,
}

/** Sums as the API shows them. */
export const toUsage = (sums: Sums = nothing) => ({
  requestCount: sums.requestCount,
  byokRequestCount: sums.byokRequestCount,
  inputTokens: sums.inputTokens,
  outputTokens: sums.outputTokens,
  cacheReadTokens: sums.cacheReadTokens,
  cacheWriteTokens: sums.cacheWriteTokens,
  totalTokens: sums.inputTokens + sums.outputTokens,
  providerCostMicrocents: Number(sums.providerCostMicrocents),
  platformFeeMicrocents: Number(sums.platformFeeMicrocents),
  totalChargedMicrocents: Number(sums.chargedMicrocents),
  totalChargedCents: wholeCents(sums.chargedMicrocents),
})

const total = (items: Sums[]): bigint => items.reduce((sum, { chargedMicrocents }) => sum + chargedMicrocents, 0n)

const withShares = <T extends Sums>(items: T[], name: (item: T) => { id: string | null; name: string }) => {
  const all = total(items)
  return items.map((item) => ({
    ...name(item),
    ...toUsage(item),
    share: all === 0n ? 0 : Number(item.chargedMicrocents) / Number(all),
  }))
}

const rangeOf = async (
  db: Db,
  orgId: string,
  { fromDay, toDay, grain }: Span,
): Promise<Range & { fromDay: string }> => {
  const first = fromDay ?? (await queries.findFirstDay(db, orgId)) ?? toDay
  return { fromDay: first, grain, from: grain === 'month' ? `${first.slice(0, 7)}-01` : first, to: toDay }
}

const listModels = async (db: Db, orgId: string, models: ModelNames, range: Range) =>
  withShares(await queries.listItems(db, orgId, 'model', range), ({ key }) => ({
    id: key,
    name: models.find(key)?.name ?? key,
  }))

const listAgents = async (db: Db, actor: Actor, range: Range) => {
  const seesAll = seesAllWorkspaces(actor.role) || may(actor, 'billing:manage')
  const items = await queries.listAgentItems(db, actor.orgId, seesAll ? null : actor.userId, range)
  return withShares(items, ({ key, name, isHidden }) =>
    isHidden ? { id: null, name: 'Agents of other workspaces' } : { id: key, name: name ?? 'A deleted agent' },
  )
}

const listProjects = async (db: Db, orgId: string, range: Range) =>
  withShares(await queries.listProjectItems(db, orgId, range), ({ key, name }) =>
    key === '' ? { id: null, name: 'Without a project' } : { id: key, name: name ?? 'A deleted project' },
  )

export const listOperations = async (db: Db, orgId: string, range: Range) =>
  (await queries.listItems(db, orgId, 'operation', range)).map(({ key, ...sums }) => ({
    operation: key,
    requestCount: sums.requestCount,
    totalChargedMicrocents: Number(sums.chargedMicrocents),
    totalChargedCents: wholeCents(sums.chargedMicrocents),
  }))

/** Settles what waits, and then reads one moment of the ledger and its rollups. */
export const readSettled = async <T>(deps: LedgerDeps, orgId: string, read: (db: Db) => Promise<T>): Promise<T> => {
  await settle(deps, orgId)
  return deps.db.transaction({ orgId }, async (db) => {
    await freeze(db)
    return read(db)
  })
}

export interface SpendingDeps extends LedgerDeps {
  models: ModelNames
}

const head = ({ period }: Span, fromDay: string, now: Date) => ({
  period,
  from: `${fromDay}T00:00:00.000Z`,
  to: now.toISOString(),
})

const topOf = 5

/** What an org spends in a period: in all, day by day (days without any, too), and its largest agents and models. */
export const getSpending = (deps: SpendingDeps, actor: Actor, name: string | undefined, now = new Date()) =>
  readSettled(deps, actor.orgId, async (db) => {
    const { orgId } = actor
    const span = spanOf(name, now)
    const range = await rangeOf(db, orgId, span)
    const days = await queries.listDays(db, orgId, { grain: 'day', from: range.fromDay, to: dayOf(now) })
    const byDay = new Map(days.map((day) => [day.date, day]))
    return {
      ...head(span, range.fromDay, now),
      summary: toUsage(await queries.findSums(db, orgId, range)),
      daily: daysBetween(range.fromDay, span.toDay).map((date) => ({ date, ...toUsage(byDay.get(date)) })),
      topAgents: (await listAgents(db, actor, range)).slice(0, topOf),
      topModels: (await listModels(db, orgId, deps.models, range)).slice(0, topOf),
    }
  })

/** The same along one axis. */
export const getBreakdown = (
  deps: SpendingDeps,
  actor: Actor,
  axis: 'model' | 'agent' | 'project',
  name: string | undefined,
  now = new Date(),
) =>
  readSettled(deps, actor.orgId, async (db) => {
    const span = spanOf(name, now)
    const range = await rangeOf(db, actor.orgId, span)
    const list = {
      model: () => listModels(db, actor.orgId, deps.models, range),
      agent: () => listAgents(db, actor, range),
      project: () => listProjects(db, actor.orgId, range),
    }
    return { ...head(span, range.fromDay, now), items: await list[axis]() }
  })
