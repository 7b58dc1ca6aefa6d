import { systemActor } from '../../identity/actor.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { recordEvents } from '../../outbox/record.ts'
import type { AnyEvent, EventAuthor } from '../../outbox/record.ts'
import type { AccountRow, NewTransaction } from './queries.ts'

type Level = Pick<AccountRow, 'balanceCents' | 'autoTopupThresholdCents'>

const isLow = ({ balanceCents, autoTopupThresholdCents }: Level): boolean => balanceCents < autoTopupThresholdCents
const isExhausted = ({ balanceCents }: Level): boolean => balanceCents <= 0n

export const billingAuthor = (orgId: string): EventAuthor => systemActor(orgId, 'Billing')

/**
 * Records deposits, and that the balance fell below the threshold or to zero. Call it in the transaction of the ledger
 * entries, with the locked account before and after them: changes of an account run one after another, so each crossing
 * is between exactly one pair.
 */
export const recordBalance = async (
  db: Transaction,
  author: EventAuthor,
  { before, after }: { before: Level; after: AccountRow },
  entries: readonly Pick<NewTransaction, 'id' | 'type' | 'amountCents'>[] = [],
): Promise<void> => {
  // The id of a balance is that of its org.
  const about = { subjectId: after.orgId, workspaceId: null }
  const balanceCents = Number(after.balanceCents)
  const events: AnyEvent[] = []
  for (const { id: transactionId, type, amountCents } of entries) {
    if (type !== 'deposit') continue
    const data = { transactionId, amountCents: Number(amountCents), balanceCents }
    events.push({ type: 'balance.deposited', ...about, data })
  }
  if (isLow(after) && !isLow(before)) {
    const thresholdCents = Number(after.autoTopupThresholdCents)
    events.push({ type: 'balance.low', ...about, data: { balanceCents, thresholdCents } })
  }
  if (isExhausted(after) && !isExhausted(before)) {
    events.push({ type: 'balance.exhausted', ...about, data: { balanceCents } })
  }
  await recordEvents(db, author, events)
}
