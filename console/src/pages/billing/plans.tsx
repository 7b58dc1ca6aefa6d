import { apiText } from '../../i18n/language.ts'
import { textOf } from '../../i18n/text.ts'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { BillingSnapshot, Pricing } from '@atrium/client'
import { api, read } from '../../api.ts'
import { formatBytes, formatCents, formatMicrocents, formatNumber, formatPrice } from '../../format.ts'
import { priceNote } from '../../model-prices.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/data/table.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { useManageReason } from './billing.tsx'
import styles from './billing.module.css'
import { quotaLabels } from './quotas.ts'

type Plan = Pricing['plans'][number]

const Price = ({ plan: { custom, priceCents } }: { plan: Plan }) => {
  if (custom || priceCents === null)
    return (
      <strong>
        <Trans>Custom</Trans>
      </strong>
    )
  return (
    <>
      <strong>{formatPrice(priceCents)}</strong>{' '}
      <span>
        <Trans>per month</Trans>
      </span>
    </>
  )
}

const reasonOf = (plan: Plan, isCurrent: boolean, billing: BillingSnapshot | undefined): string | false => {
  if (isCurrent) return t`This is your current plan.`
  if (plan.custom) return t`Ask the operator of this server about this plan.`
  if (plan.priceCents === 0) return t`This plan applies when there is no subscription.`
  return billing?.payment.paymentProviderConfigured === false && t`This server has no payment provider.`
}

const limitOf = (name: keyof Plan['quotas'], limit: number | null): string => {
  if (limit === null) return t`Unlimited`
  return name === 'storedBytes' ? formatBytes(limit) : formatNumber(limit)
}

/** What the plan includes, a line each. */
const Included = ({ plan: { name, quotas, includedCreditCents, custom } }: { plan: Plan }) => {
  const quotaNames = Object.keys(quotaLabels) as (keyof Plan['quotas'])[]
  const lines = [
    [t`Credit per month`, includedCreditCents > 0 ? formatCents(includedCreditCents) : custom ? t`Custom` : t`None`],
    ...quotaNames.map((quota) => [textOf(quotaLabels[quota]), limitOf(quota, quotas[quota])]),
  ]
  return (
    <dl className={styles['included']} aria-label={t`Included in ${name}`}>
      {lines.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const PlanCard = ({ plan, billing }: { plan: Plan; billing: BillingSnapshot | undefined }) => {
  const off = useManageReason()
  const current = billing?.subscription?.planId ?? 'free'
  const isCurrent = plan.id === current
  const { busy, error, submit } = useSubmit(async () => {
    const body = { planId: plan.id }
    const { checkoutUrl } = await api.call('POST /billing/subscriptions/checkout', { body })
    location.assign(checkoutUrl)
  })
  return (
    <li className={styles['plan']} data-current={isCurrent || undefined}>
      <h2>
        {plan.name}{' '}
        {isCurrent && (
          <Badge tone="good">
            <Trans>Current</Trans>
          </Badge>
        )}
      </h2>
      <p>{apiText(plan.description)}</p>
      <div className={styles['planPrice']}>
        <Price plan={plan} />
        <Notice error={error} />
      </div>
      <Button
        variant={isCurrent ? 'secondary' : 'primary'}
        busy={busy}
        disabledReason={reasonOf(plan, isCurrent, billing) || off}
        onClick={submit}
      >
        {isCurrent ? t`Current plan` : t`Choose ${plan.name}`}
      </Button>
      <Included plan={plan} />
    </li>
  )
}

/** By price, and the plans without one last. The server lists them in the order of its configuration. */
const byPrice = (a: Plan, b: Plan): number =>
  Number(a.custom) - Number(b.custom) || (a.priceCents ?? Infinity) - (b.priceCents ?? Infinity) || 0

const Prices = ({ pricing: { models, services, platformFee } }: { pricing: Pricing }) => (
  <>
    <Section plain title={t`Models`} description={t`Price per million tokens, ${priceNote(platformFee)}.`}>
      <Table
        label={t`Model prices`}
        rows={models}
        keyOf={({ id }) => id}
        columns={[
          { title: t`Model`, cell: ({ id, name }) => <span title={id}>{name}</span> },
          { title: t`Provider`, optional: true, cell: ({ provider }) => provider },
          {
            title: t`Input`,
            align: 'end',
            cell: (m) => (m.free ? t`Free` : formatMicrocents(m.withFee.inputMicrocents)),
          },
          {
            title: t`Output`,
            align: 'end',
            cell: (m) => (m.free ? t`Free` : formatMicrocents(m.withFee.outputMicrocents)),
          },
          {
            title: t`Cached input`,
            align: 'end',
            optional: true,
            cell: (m) => (m.free ? t`Free` : formatMicrocents(m.withFee.cacheReadMicrocents)),
          },
        ]}
      />
    </Section>
    {services.length > 0 && (
      <Section plain title={t`Services`}>
        <Table
          label={t`Service prices`}
          rows={services}
          keyOf={({ id }) => id}
          columns={[
            { title: t`Service`, cell: ({ id }) => id },
            { title: t`Unit`, cell: ({ unit }) => unit },
            { title: t`Price`, align: 'end', cell: ({ priceMicrocents }) => formatMicrocents(priceMicrocents) },
          ]}
        />
      </Section>
    )}
  </>
)

export const Plans = () => {
  const pricing = useQuery(read('GET /billing/pricing'))
  const billing = useQuery(read('GET /billing'))
  return (
    <QueryBoundary query={pricing}>
      {(data) => (
        <>
          <ul className={styles['plans']} aria-label={t`Plans`}>
            {data.plans.toSorted(byPrice).map((plan) => (
              <PlanCard key={plan.id} plan={plan} billing={billing.data} />
            ))}
          </ul>
          <Prices pricing={data} />
        </>
      )}
    </QueryBoundary>
  )
}
