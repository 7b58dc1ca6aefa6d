import { t } from '@lingui/core/macro'
import { useNavigation } from 'react-router'
import styles from './layout.module.css'

/** A bar at the top of the page while the next page loads. It appears after 100 ms, so that fast ones do not flicker. */
export const RouteProgress = () =>
  useNavigation().state === 'loading' ? (
    <div className={styles['progress']} role="progressbar" aria-label={t`Loading page`} />
  ) : null
