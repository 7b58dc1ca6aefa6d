import type { BillingConfig } from '../config/billing.ts'

/** From the id of a plan to its name; the id itself when the plan is not sold any more. */
export const planNames =
  ({ plans }: Pick<BillingConfig, 'plans'>) =>
  (planId: string): string =>
    plans.find(({ id }) => id === planId)?.name ?? planId
