import type { BillingConfig } from '../../config/billing.ts'
import type { Db } from '../../platform/database/database.ts'
import { waiverOf } from '../account.ts'
import type { Rates } from './reservations.ts'
import { getAccount } from './ledger.ts'
import { ceilDiv } from './money.ts'

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

/** Services that are free of charge, listed because clients may expect to pay for them. */
const services = [
  { id: 'files.storage', unit: 'GB a month', priceMicrocents: 0 },
  { id: 'webhooks.delivery', unit: 'delivery', priceMicrocents: 0 },
  { id: 'tools.call', unit: 'call', priceMicrocents: 0 },
]

/** The plans, the platform fee that applies to this org, and the rates of each model with and without it. */
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
