import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { EventEndpoint, Webhook } from '@atrium/client'
import { formatAgo, formatDateTime } from '../../format.ts'
import styles from './health.module.css'

const textOf = (results: EventEndpoint['recentResults']): string => {
  const succeeded = results.filter((result) => result === 'succeeded').length
  if (results.length === 0) return t`No recent results`
  if (succeeded === results.length) return results.length === 1 ? t`Succeeded` : t`All of ${succeeded} succeeded`
  // Rounded down, so that 100 % means that none has failed.
  return t`${Math.floor((succeeded / results.length) * 100)} % of ${results.length} succeeded`
}

/** How the last deliveries ended, as bars from the oldest to the newest, and in words. */
export const Health = ({
  of: { recentResults, failingSince, status },
}: {
  of: Pick<EventEndpoint, 'recentResults' | 'failingSince'> & Pick<Webhook, 'status'>
}) => {
  const isFailing = status === 'active' && failingSince !== null
  return (
    <span className={styles['health']}>
      {recentResults.length > 0 && (
        <span className={styles['bars']} aria-hidden="true">
          {recentResults.toReversed().map((result, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- a bar has no other key than its place
            <i key={index} className={styles[result]} />
          ))}
        </span>
      )}
      {isFailing ? (
        <span className={styles['failing']} title={formatDateTime(failingSince)}>
          <Trans>Failing since {formatAgo(failingSince)}</Trans>
        </span>
      ) : (
        <span className={styles['faint']}>{textOf(recentResults)}</span>
      )}
    </span>
  )
}
