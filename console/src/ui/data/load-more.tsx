import { Button } from '../forms/button.tsx'
import styles from './load-more.module.css'

/** Below a list that has more pages. */
export const LoadMore = ({ more, isLoadingMore }: { more: (() => void) | undefined; isLoadingMore: boolean }) =>
  more && (
    <div className={styles['more']}>
      <Button onClick={more} busy={isLoadingMore}>
        Show more
      </Button>
    </div>
  )
