import type { Actor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import type { Database, Db } from '../platform/database/database.ts'
import { badRequest, conflict, notFound, validationError } from '../platform/http/errors.ts'
import { newId } from '../platform/ids.ts'
import { book, lockAccount } from './ledger/ledger.ts'
import * as queries from './promotion-queries.ts'
import type { PromotionRow } from './promotion-queries.ts'

/** People type codes: neither case nor space around them counts. */
const toCode = (given: string): string => given.trim().toUpperCase()

const codePattern = /^[A-Z0-9][A-Z0-9_-]{1,62}$/

/** A promotion that every org may redeem once. BAD_REQUEST for a code or a sum that is none, CONFLICT for a known code. */
export const createPromotion = async (
  db: Db,
  wish: { code: string; amountCents: number; description: string | null; expiresAt: string | null },
): Promise<PromotionRow> => {
  const code = toCode(wish.code)
  if (!codePattern.test(code)) throw badRequest('The code must be 2 to 63 of A-Z, 0-9, dashes and underscores.')
  if (!Number.isSafeInteger(wish.amountCents) || wish.amountCents < 1 || wish.amountCents > 100_000_000) {
    throw badRequest('The amount must be a whole number of cents from 1 to 100000000.')
  }
  const made = await queries.insertPromotion(db, { ...wish, id: newId(), code })
  if (!made) throw conflict(`There is a promotion ${code} already.`)
  return made
}

export const toPromotion = (row: PromotionRow & { remainingCents: bigint }) => ({
  ...row,
  amountCents: Number(row.amountCents),
  remainingCents: Number(row.remainingCents),
})

/** Adds a promotion to the org's balance. NOT_FOUND, VALIDATION_ERROR when it has expired, CONFLICT the second time. */
export const redeemPromotion = async (db: Database, actor: Actor, given: string) =>
  db.transaction(actor, async (db) => {
    const promotion = await queries.findPromotion(db, toCode(given))
    if (!promotion) throw notFound('Promotion')
    if (promotion.isExpired) throw validationError('The promotion has expired.')
    const { id, code, amountCents } = promotion
    const account = await lockAccount(db, actor.orgId)
    if (!(await queries.insertRedemption(db, actor.orgId, id, amountCents))) {
      throw conflict('Your org has redeemed this promotion already.')
    }
    const notes = `Promotion ${code}`
    await book(db, account, [{ type: 'adjustment', amountCents, notes, reference: `promotion:${id}` }])
    await audit(
      db,
      actor,
      'billing.promotion-redeemed',
      { type: 'promotion', id },
      { code, amountCents: Number(amountCents) },
    )
    return toPromotion({ ...promotion, remainingCents: amountCents })
  })
