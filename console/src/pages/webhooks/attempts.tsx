import type { Delivery } from '@atrium/client'
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
      <strong>Attempt {attempt.number}</strong>
      <Badge tone={isSuccess(attempt) ? 'good' : 'bad'}>{attempt.responseStatus ?? 'No response'}</Badge>
      {attempt.trigger === 'manual' && <Badge>Manual</Badge>}
      <span className={styles['faint']}>
        {formatDateTime(attempt.at)}, {attempt.durationMs} ms
      </span>
    </div>
    <code className={styles['address']}>POST {attempt.url}</code>
    {attempt.error !== null && <Notice tone="bad">{attempt.error}</Notice>}
    {last?.response && (
      <>
        <Headers headers={last.response.headers} title="Response headers" />
        {last.response.body === '' ? (
          <p className={styles['faint']}>Empty response body.</p>
        ) : (
          <JsonView value={last.response.body} label="Response body" />
        )}
        {last.response.truncated && <p className={styles['faint']}>Only the first 4 KB of the body are stored.</p>}
      </>
    )}
  </li>
)

/** All attempts, the last one first and with its response. */
export const Attempts = ({ delivery }: { delivery: Attempted }) => (
  <div className={styles['stack']}>
    <h3>Attempts</h3>
    {delivery.attempts.length === 0 ? (
      <p className={styles['faint']}>No attempts yet.</p>
    ) : (
      <ol className={styles['attempts']}>
        {delivery.attempts.toReversed().map((attempt, index) => (
          <AttemptItem key={attempt.number} attempt={attempt} last={index === 0 ? delivery : undefined} />
        ))}
      </ol>
    )}
  </div>
)
