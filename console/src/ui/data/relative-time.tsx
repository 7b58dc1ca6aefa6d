import { formatAgo, formatDateTime } from '../../format.ts'
import styles from './relative-time.module.css'

/** `3 min. ago`, with the exact time as tooltip. */
export const RelativeTime = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatDateTime(at)} className={styles['time']}>
    {formatAgo(at)}
  </time>
)
