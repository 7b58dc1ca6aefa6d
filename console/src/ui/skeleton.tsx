import { t } from '@lingui/core/macro'
import styles from './skeleton.module.css'

/** Placeholder rows. They appear after 80 ms, so that a fast response does not flicker. */
export const Skeleton = ({ rows = 6, label }: { rows?: number; label?: string }) => (
  <div className={styles['loading']} role="status" aria-label={label ?? t`Loading`}>
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} className={styles['bar']} data-width={index % 4} />
    ))}
  </div>
)
