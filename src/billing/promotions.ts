import type { Actor } from '../identity/actor.ts'
import { audit } from '../identity/audit/audit.ts'
import type { Database, Db } from '../platform/database/database.ts'
import { badRequest, conflict, notFound, validationError } from '../platform/http/errors.ts'
import { newId } from '../platform/ids.ts'
import { postEntries, lockAccount } from './ledger/ledger.ts'
import * as queries from './promotion-queries.ts'
import type { PromotionRow } from './promotion-queries.ts'

/** Codes are typed by people: case and surrounding space do not matter. */
const toCode = (input: string): string => input.trim().toUpperCase()

const codePattern = /^[A-Z0-9][A-Z0-9_-]{1,62}$/

/** A promotion that every org may redeem once. BAD_REQUEST for an invalid code or amount, CONFLICT when the code exists. */
export const createPromotion = async (
  db: Db,
  input: { code: string; amountCents: number; description: string | null; expiresAt: string | null },
): Promise<PromotionRow> => {
  const code = toCode(input.code)
  if (!codePattern.test(code))
    throw badRequest('code must be 2–63 characters of A-Z, 0-9, - and _, and start with a letter or digit')
  if (!Number.isSafeInteger(input.amountCents) || input.amountCents < 1 || input.amountCents > 100_000_000) {
    throw badRequest('amountCents must be a whole number from 1 to 100000000')
  }
  const created = await queries.insertPromotion(db, { ...input, id: newId(), code })
  if (!created) throw conflict(`A promotion with the code ${code} exists already.`)
  return created
}

export const toPromotion = (row: PromotionRow & { remainingCents: bigint }) => ({
  ...row,
  amountCents: Number(row.amountCents),
  remainingCents: Number(row.remainingCents),
})

/** Adds a promotion to the org's balance. NOT_FOUND, VALIDATION_ERROR when it has expired, CONFLICT when redeemed before. */
export const redeemPromotion = async (db: Database, actor: Actor, typedCode: string) =>
  db.transaction(actor, async (db) => {
    const promotion = await queries.findPromotion(db, toCode(typedCode))
    if (!promotion) throw notFound('Promotion')
    if (promotion.isExpired) throw validationError('The promotion has expired.')
    const { id, code, amountCents } = promotion
    const account = await lockAccount(db, actor.orgId)
    if (!(await queries.insertRedemption(db, actor.orgId, id, amountCents))) {
      throw conflict('Your org has redeemed this promotion already.')
    }
    const notes = `Promotion ${code}`
    await postEntries(db, account, [{ type: 'adjustment', amountCents, notes, reference: `promotion:${id}` }])
    await audit(db, actor, 'billing.promotion-redeemed', {
      type: 'promotion',
      id,
      details: { code, amountCents: Number(amountCents) },
    })
    return toPromotion({ ...promotion, remainingCents: amountCents })
  })
