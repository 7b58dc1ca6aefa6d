import { listClosedProjects } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import { may } from '../../identity/actor.ts'
import { seesAllWorkspaces } from '../../identity/permissions.ts'
import type { Db } from '../../platform/database/database.ts'
import type { LedgerDeps } from '../ledger/ledger.ts'
import { readPosted } from '../ledger/ledger.ts'
import { noAgentId } from '../ledger/standalone-calls.ts'
import { wholeCents } from '../ledger/money.ts'
import { dayOf, daysBetween, spanOf } from '../periods.ts'
import type { Span } from '../periods.ts'
import { getChart } from './chart.ts'
import * as queries from './queries.ts'
import type { Range, SpendingSums } from './queries.ts'

export interface ModelNames {
  find(id: string): { name: string } | undefined
}

const nothing: SpendingSums = {
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

/** Sums in the form of the API. */
export const toUsage = (sums: SpendingSums = nothing) => ({
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

const total = (items: SpendingSums[]): bigint =>
  items.reduce((sum, { chargedMicrocents }) => sum + chargedMicrocents, 0n)

const withShares = <T extends SpendingSums>(items: T[], name: (item: T) => { id: string | null; name: string }) => {
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

const findModels = async (db: Db, orgId: string, models: ModelNames, range: Range) =>
  (await queries.listItems(db, orgId, 'model', range)).map((item) => ({
    ...item,
    name: models.find(item.key)?.name ?? item.key,
  }))

const listModels = async (db: Db, orgId: string, models: ModelNames, range: Range) =>
  withShares(await findModels(db, orgId, models, range), ({ key, name }) => ({ id: key, name }))

const listAgents = async (db: Db, actor: Actor, range: Range) => {
  const seesAll = seesAllWorkspaces(actor.role) || may(actor, 'billing:manage')
  const items = await queries.listAgentItems(db, actor.orgId, seesAll ? null : actor.userId, range)
  return withShares(items, ({ key, name, isHidden }) => {
    if (isHidden) return { id: null, name: 'Agents of other workspaces' }
    return key === noAgentId ? { id: null, name: 'No agent' } : { id: key, name: name ?? 'Deleted agent' }
  })
}

const listProjects = async (db: Db, actor: Actor, range: Range) => {
  const closedIds = (await listClosedProjects(db, actor)).map(({ id }) => id)
  return withShares(await queries.listProjectItems(db, actor.orgId, range, closedIds), ({ key, name }) => {
    if (key === queries.closedProjects) return { id: null, name: 'Restricted projects' }
    return key === '' ? { id: null, name: 'No project' } : { id: key, name: name ?? 'Deleted project' }
  })
}

export const listOperations = async (db: Db, orgId: string, range: Range) =>
  (await queries.listItems(db, orgId, 'operation', range)).map(({ key, ...sums }) => ({
    operation: key,
    requestCount: sums.requestCount,
    totalChargedMicrocents: Number(sums.chargedMicrocents),
    totalChargedCents: wholeCents(sums.chargedMicrocents),
  }))

export interface SpendingDeps extends LedgerDeps {
  models: ModelNames
}

const head = ({ period }: Span, fromDay: string, now: Date) => ({
  period,
  from: `${fromDay}T00:00:00.000Z`,
  to: now.toISOString(),
})

const topCount = 5

/** The spending of a period: in total, for every day (0 on days without charges), and of the top agents and models. */
export const getSpending = (deps: SpendingDeps, actor: Actor, period: string | undefined, now = new Date()) =>
  readPosted(deps, actor.orgId, async (db) => {
    const { orgId } = actor
    const span = spanOf(period, now)
    const range = await rangeOf(db, orgId, span)
    const days = await queries.listDays(db, orgId, { grain: 'day', from: range.fromDay, to: dayOf(now) })
    const byDay = new Map(days.map((day) => [day.date, day]))
    const models = await findModels(db, orgId, deps.models, range)
    return {
      ...head(span, range.fromDay, now),
      summary: toUsage(await queries.findSums(db, orgId, range)),
      daily: daysBetween(range.fromDay, span.toDay).map((date) => ({ date, ...toUsage(byDay.get(date)) })),
      topAgents: (await listAgents(db, actor, range)).slice(0, topCount),
      topModels: withShares(models, ({ key, name }) => ({ id: key, name })).slice(0, topCount),
      chart: await getChart(db, orgId, { span, fromDay: range.fromDay, now }, models),
    }
  })

/** The spending of a period by model, agent or project. */
export const getBreakdown = (
  deps: SpendingDeps,
  actor: Actor,
  { axis, period }: { axis: 'model' | 'agent' | 'project'; period: string | undefined },
  now = new Date(),
) =>
  readPosted(deps, actor.orgId, async (db) => {
    const span = spanOf(period, now)
    const range = await rangeOf(db, actor.orgId, span)
    const list = {
      model: () => listModels(db, actor.orgId, deps.models, range),
      agent: () => listAgents(db, actor, range),
      project: () => listProjects(db, actor, range),
    }
    return { ...head(span, range.fromDay, now), items: await list[axis]() }
  })
