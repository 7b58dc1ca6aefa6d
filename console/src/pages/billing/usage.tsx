import { textOf } from '../../i18n/text.ts'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Quota } from '@atrium/client'
import { read } from '../../api.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { ProgressBar } from '../../ui/data/progress-bar.tsx'
import { Section } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import styles from './billing.module.css'
import { amountOf, isNear, quotaLabels, shareOf, wasRefused } from './quotas.ts'

const StateOf = ({ quota }: { quota: Quota }) => {
  if (!isNear(quota)) return null
  return shareOf(quota) >= 1 ? (
    <Badge tone="bad">
      <Trans>Full</Trans>
    </Badge>
  ) : (
    <Badge tone="warn">
      <Trans>Almost full</Trans>
    </Badge>
  )
}

const percentOf = (quota: Quota): string =>
  // Rounded down, so that 100 % means that nothing is left.
  quota.limit === null ? t`No limit` : t`${Math.floor(shareOf(quota) * 100)} % used`

const QuotaItem = ({ quota }: { quota: Quota }) => {
  const { name, limit, used, source, lastRefusedAt } = quota
  const label = textOf(quotaLabels[name])
  return (
    <li className={styles['quota']}>
      <div className={styles['quotaHead']}>
        <h3>
          {label} <StateOf quota={quota} />
        </h3>
        <span>
          {limit === null ? (
            <Trans>
              <strong>{amountOf(quota, used)}</strong>, unlimited
            </Trans>
          ) : (
            <Trans>
              <strong>{amountOf(quota, used)}</strong> of {amountOf(quota, limit)}
            </Trans>
          )}
        </span>
      </div>
      <ProgressBar
        value={shareOf(quota)}
        label={t`${label} used`}
        tone={!isNear(quota) ? 'neutral' : shareOf(quota) >= 1 ? 'bad' : 'warn'}
      />
      <div className={styles['quotaHead']}>
        <small>
          {percentOf(quota)}
          {source === 'operator' && ` (${t`limit set by the server operator`})`}
        </small>
        {wasRefused(quota) && lastRefusedAt !== null && (
          <small>
            <Trans>
              Last rejected <RelativeTime at={lastRefusedAt} />
            </Trans>
          </small>
        )}
      </div>
    </li>
  )
}

export const Usage = () => {
  const quotas = useQuery(read('GET /quotas'))
  return (
    <Section
      title={t`Usage and quotas`}
      description={t`What your organization uses, and the limits of its plan. Requests that would exceed a quota are rejected; stored data is kept.`}
      actions={
        <ButtonLink small variant="quiet" to="/billing/plans">
          <Trans>View plans</Trans>
        </ButtonLink>
      }
    >
      <QueryBoundary query={quotas}>
        {({ items }) => (
          <ul className={styles['quotas']} aria-label={t`Quotas`}>
            {items.map((quota) => (
              <QuotaItem key={quota.name} quota={quota} />
            ))}
          </ul>
        )}
      </QueryBoundary>
    </Section>
  )
}
