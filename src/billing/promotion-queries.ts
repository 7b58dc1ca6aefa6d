import { sql } from '../platform/database/database.ts'
import type { Db } from '../platform/database/database.ts'

export interface PromotionRow {
  id: string
  code: string
  description: string | null
  amountCents: bigint
  expiresAt: string | null
}

/** Undefined when a promotion with the code exists. */
export const insertPromotion = (db: Db, promotion: Omit<PromotionRow, 'amountCents'> & { amountCents: number }) =>
  db.row<PromotionRow>(sql`
    insert into promotions (id, code, description, amount_cents, expires_at)
    values (${promotion.id}, ${promotion.code}, ${promotion.description}, ${promotion.amountCents}, ${promotion.expiresAt})
    on conflict (code) do nothing
    returning id, code, description, amount_cents, expires_at`)

export const findPromotion = (db: Db, code: string) =>
  db.row<PromotionRow & { isExpired: boolean }>(sql`
    select id, code, description, amount_cents, expires_at, coalesce(expires_at <= now(), false) as is_expired
    from promotions where code = ${code}`)

/** False when the org redeemed it before. */
export const insertRedemption = async (db: Db, orgId: string, promotionId: string, cents: bigint): Promise<boolean> =>
  (await db.execute(sql`
    with redeemed as (
      insert into promotion_redemptions (org_id, promotion_id, remaining_cents)
      values (${orgId}, ${promotionId}, ${cents})
      on conflict do nothing returning remaining_cents
    )
    update billing_accounts a set promotion_remaining_cents = promotion_remaining_cents + redeemed.remaining_cents
    from redeemed where a.org_id = ${orgId}`)) > 0

export const listRedeemed = (db: Db, orgId: string) =>
  db.rows<PromotionRow & { remainingCents: bigint }>(sql`
    select p.id, p.code, p.description, p.amount_cents, r.remaining_cents, p.expires_at
    from promotion_redemptions r join promotions p on p.id = r.promotion_id
    where r.org_id = ${orgId} order by r.redeemed_at desc, p.id`)
