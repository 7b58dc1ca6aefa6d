import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Delivery } from '@atrium/client'
import { apiText } from '../../i18n/language.ts'
import { formatDateTime } from '../../format.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { JsonView } from '../../ui/data/json-view.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Headers } from './headers.tsx'
import styles from './webhooks.module.css'

/** A delivery to a webhook or to an event endpoint. */
export type Attempted = Pick<Delivery, 'attempts' | 'response'>

type Attempt = Delivery['attempts'][number]

const isSuccess = ({ responseStatus }: Attempt): boolean =>
  responseStatus !== null && responseStatus >= 200 && responseStatus < 300

const AttemptItem = ({ attempt, last }: { attempt: Attempt; last: Attempted | undefined }) => (
  <li>
    <div className={styles['attemptHead']}>
      <strong>
        <Trans>Attempt {attempt.number}</Trans>
      </strong>
      <Badge tone={isSuccess(attempt) ? 'good' : 'bad'}>{attempt.responseStatus ?? t`No response`}</Badge>
      {attempt.trigger === 'manual' && (
        <Badge>
          <Trans>Manual</Trans>
        </Badge>
      )}
      <span className={styles['faint']}>
        <Trans>
          {formatDateTime(attempt.at)}, {attempt.durationMs} ms
        </Trans>
      </span>
    </div>
    <code className={styles['address']}>POST {attempt.url}</code>
    {attempt.error !== null && <Notice tone="bad">{apiText(attempt.error)}</Notice>}
    {last?.response && (
      <>
        <Headers headers={last.response.headers} title={t`Response headers`} />
        {last.response.body === '' ? (
          <p className={styles['faint']}>
            <Trans>Empty response body.</Trans>
          </p>
        ) : (
          <JsonView value={last.response.body} label={t`Response body`} />
        )}
        {last.response.truncated && (
          <p className={styles['faint']}>
            <Trans>Only the first 4 KB of the body are stored.</Trans>
          </p>
        )}
      </>
    )}
  </li>
)

/** All attempts, the last one first and with its response. */
export const Attempts = ({ delivery }: { delivery: Attempted }) => (
  <div className={styles['stack']}>
    <h3>
      <Trans>Attempts</Trans>
    </h3>
    {delivery.attempts.length === 0 ? (
      <p className={styles['faint']}>
        <Trans>No attempts yet.</Trans>
      </p>
    ) : (
      <ol className={styles['attempts']}>
        {delivery.attempts.toReversed().map((attempt, index) => (
          <AttemptItem key={attempt.number} attempt={attempt} last={index === 0 ? delivery : undefined} />
        ))}
      </ol>
    )}
  </div>
)
