import { systemActor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { findMonthCharges, setCapWarned } from './queries.ts'
import type { AccountRow } from './queries.ts'
import { microcentsPerCent } from './money.ts'

/** The percentage of a cap from which its state is `near`. */
const nearPercent = 80n

export const capState = (capCents: bigint, chargedMicrocents: bigint): 'free' | 'near' | 'reached' => {
  const cap = capCents * microcentsPerCent
  if (chargedMicrocents >= cap) return 'reached'
  return chargedMicrocents * 100n >= cap * nearPercent ? 'near' : 'free'
}

/** Writes `billing.cap-near` to the audit log, once a month, when the org nears its cap. The account must be locked. */
export const watchCap = async (db: Transaction, account: AccountRow): Promise<void> => {
  const { orgId, monthlyCapCents, capWarnedMonth } = account
  if (monthlyCapCents === null) return
  const month = `${new Date().toISOString().slice(0, 7)}-01`
  if (capWarnedMonth === month) return
  const charged = await findMonthCharges(db, orgId, 'total', '')
  if (capState(monthlyCapCents, charged) === 'free') return
  await setCapWarned(db, orgId, month)
  const details = { monthlyCapCents: Number(monthlyCapCents), chargedMicrocents: Number(charged) }
  await audit(db, systemActor(orgId, 'Billing'), 'billing.cap-near', { type: 'billing', id: null, details })
}
