import type { Database } from '../platform/database/database.ts'
import { firstId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/jobs.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/process/log.ts'
import { lockAccount, postCharges } from './ledger/ledger.ts'
import { deleteExpiredReservations } from './ledger/reservation-queries.ts'
import { dropOldRecords } from './ledger/retention.ts'
import { cancelSubscription, findInvoicePayment, saveMethod, workOnSaveMethod } from './payments/jobs.ts'
import { expireEvents, listReplacedSubscriptions } from './payments/queries.ts'
import type { Payments } from './payments/stripe.ts'
import { workOnInvoicePayment, workOnReplacedSubscription } from './payments/subscription-jobs.ts'
import * as topupQueries from './payments/topup-queries.ts'
import { runTopup, topUpIfLow } from './payments/topup-trigger.ts'
import { failUnattempted, workOnTopup } from './payments/topups.ts'
import { listOrgsWithPendingCharges } from './ledger/usage-queries.ts'

export interface BillingJobDeps {
  db: Database
  jobs: Jobs
  log: Log
  payments: Payments | undefined
  config: { retention: { usageDays: number } }
}

const applyRetention = defineJob<Record<string, never>>('billing.retention')

export const sweep = defineJob<Record<string, never>>('billing.sweep')

const chargesPerPage = 500
/** Batches of 10,000 charges that a sweep posts of one org, before it continues with the next one. */
const batchesPerOrg = 20

type Attempt = (orgId: string, work: () => Promise<unknown>) => Promise<void>

const postPending = async (deps: Pick<BillingJobDeps, 'db' | 'jobs'>, attempt: Attempt): Promise<void> => {
  let after = firstId
  for (;;) {
    const orgs = await listOrgsWithPendingCharges(deps.db, after, chargesPerPage)
    for (const { orgId } of orgs) await attempt(orgId, () => postCharges(deps, orgId, batchesPerOrg))
    const last = orgs.at(-1)
    if (last === undefined) return
    after = last.orgId
  }
}

/** Resumes what a killed process left behind, and starts what a command of the operator made due. */
const sweepAll = async ({ db, jobs, log }: BillingJobDeps): Promise<void> => {
  // The orgs after one that fails have their turn. The next sweep begins a minute later.
  const attempt: Attempt = async (orgId, work) => {
    try {
      await work()
    } catch (error) {
      log.error({ err: error, orgId }, 'the billing of an org failed and is tried again')
    }
  }
  await postPending({ db, jobs }, attempt)
  for (const { orgId } of await topupQueries.listOrgsBelowThreshold(db)) {
    await attempt(orgId, () =>
      db.transaction({ orgId }, async (db) => topUpIfLow(db, jobs, await lockAccount(db, orgId))),
    )
  }
  for (const topup of await topupQueries.listUnattemptedTopups(db)) {
    await attempt(topup.orgId, () => failUnattempted(db, topup))
  }
  const stale = (await topupQueries.listStaleTopups(db)).map(({ orgId, id }) => ({ orgId, topupId: id }))
  // A top-up whose job waits, also for the recheck of its payment, needs no other.
  for (const topup of await jobs.unattended(runTopup, stale)) {
    await db.transaction(topup, (db) => jobs.enqueue(db, runTopup, topup, { singletonKey: topup.topupId }))
  }
  for (const one of await jobs.unattended(cancelSubscription, await listReplacedSubscriptions(db))) {
    const options = { singletonKey: one.subscriptionId }
    await db.transaction({ orgId: one.orgId }, (db) => jobs.enqueue(db, cancelSubscription, one, options))
  }
  await deleteExpiredReservations(db)
  await expireEvents(db)
}

export const registerBillingJobs = (deps: BillingJobDeps): void => {
  const { config, db, jobs } = deps
  // Without the provider's key, these jobs wait for a process that has it.
  if (deps.payments) {
    jobs.work(runTopup, (payload, context) => workOnTopup(deps, payload, context))
    jobs.work(saveMethod, (payload) => workOnSaveMethod(deps, payload))
    jobs.work(findInvoicePayment, (payload) => workOnInvoicePayment(deps, payload))
    jobs.work(cancelSubscription, (payload, context) => workOnReplacedSubscription(deps, payload, context))
  }
  jobs.schedule(sweep, '* * * * *')
  jobs.work(sweep, () => sweepAll(deps))
  const { usageDays } = config.retention
  jobs.schedule(applyRetention, '37 1 * * *')
  jobs.work(
    applyRetention,
    async () => {
      if (usageDays > 0) await dropOldRecords(db, usageDays)
    },
    { concurrency: 1 },
  )
}
