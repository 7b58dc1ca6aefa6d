import { textOf } from '../../i18n/text.ts'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Quota } from '@atrium/client'
import { Link } from 'react-router'
import { read } from '../../api.ts'
import { formatAgo } from '../../format.ts'
import { Notice } from '../../ui/notice.tsx'
import styles from './billing.module.css'
import { amountOf, isNear, quotaLabels, wasRefused } from './quotas.ts'

/** A warning on the page of a limited resource, from 80 % of the quota on. */
export const QuotaNotice = ({ name }: { name: Quota['name'] }) => {
  const { data } = useQuery(read('GET /quotas'))
  const quota = data?.items.find((one) => one.name === name)
  if (!quota || quota.limit === null || !isNear(quota)) return null
  const isFull = quota.used >= quota.limit
  return (
    <div className={styles['back']}>
      <Notice tone={isFull ? 'bad' : 'warn'}>
        <span>
          <Trans>
            {textOf(quotaLabels[name])}: {amountOf(quota, quota.used)} of {amountOf(quota, quota.limit)} used.
          </Trans>{' '}
          {isFull && t`New ones are rejected.`}{' '}
          {wasRefused(quota) && quota.lastRefusedAt !== null && t`Last rejected ${formatAgo(quota.lastRefusedAt)}.`}{' '}
          <Link to="/billing/usage">
            <Trans>Usage and quotas</Trans>
          </Link>
        </span>
      </Notice>
    </div>
  )
}
