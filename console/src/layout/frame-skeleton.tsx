import { t } from '@lingui/core/macro'
import { Skeleton } from '../ui/skeleton.tsx'
import styles from './layout.module.css'

/** The frame of every page while it is not known who is signed in. */
export const FrameSkeleton = () => (
  <div className={styles['frame']}>
    <div className={styles['topBar']}>
      <span className={styles['brand']}>Atrium</span>
    </div>
    <div className={styles['side']} />
    <main className={styles['content']}>
      <div className={styles['loading']}>
        <Skeleton label={t`Loading Atrium`} />
      </div>
    </main>
  </div>
)
