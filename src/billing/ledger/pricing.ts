import type { BillingConfig } from '../../config/billing.ts'
import type { Db } from '../../platform/database/database.ts'
import { waiverOf } from '../account.ts'
import type { Rates } from './gate.ts'
import { getAccount } from './ledger.ts'
import { ceilDiv } from './money.ts'

/** What pricing needs to know of a model. */
export interface PricedModel {
  id: string
  name: string
  provider: string
  free: boolean
  pricing: Rates | null
}

const withFee = (rate: number, bps: number): number => Number(ceilDiv(BigInt(rate) * BigInt(10_000 + bps), 10_000n))

const ratesOf = (rates: Rates, bps: number) => ({
  inputMicrocents: withFee(rates.input, bps),
  outputMicrocents: withFee(rates.output, bps),
  cacheReadMicrocents: withFee(rates.cacheRead, bps),
  cacheWriteMicrocents: withFee(rates.cacheWrite, bps),
})

/** Things that a client may expect to be charged for, and that are not. */
const services = [
  { id: 'files.storage', unit: 'GB a month', priceMicrocents: 0 },
  { id: 'webhooks.delivery', unit: 'delivery', priceMicrocents: 0 },
  { id: 'tools.call', unit: 'call', priceMicrocents: 0 },
]

/** Plans, the fee as this org pays it, and what each model costs with and without it. */
export const getPricing = async (db: Db, config: BillingConfig, models: readonly PricedModel[], orgId: string) => {
  const { active } = waiverOf(await getAccount(db, orgId), config)
  const { bps } = config.fee
  return {
    plans: config.plans.map(({ id, name, description, priceCents, includedCreditCents, quotas }) => ({
      id,
      name,
      description,
      priceCents,
      interval: 'month' as const,
      includedCreditCents,
      custom: priceCents === null,
      quotas,
    })),
    platformFee: { bps, waived: active },
    models: models.flatMap(({ id, name, provider, free, pricing }) =>
      pricing === null
        ? []
        : [{ id, name, provider, free, ...ratesOf(pricing, 0), withFee: ratesOf(pricing, active ? 0 : bps) }],
    ),
    services,
  }
}
