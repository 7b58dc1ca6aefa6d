import { formatAgo, formatDateTime } from '../../format.ts'
import styles from './relative-time.module.css'

/** When something was: short to read, exact under the pointer. */
export const RelativeTime = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatDateTime(at)} className={styles['time']}>
    {formatAgo(at)}
  </time>
)
