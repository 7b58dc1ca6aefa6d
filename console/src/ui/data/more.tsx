import { Button } from '../forms/button.tsx'
import styles from './more.module.css'

/** Below a list that has more pages. */
export const More = ({ more, isLoadingMore }: { more: (() => void) | undefined; isLoadingMore: boolean }) =>
  more && (
    <div className={styles['more']}>
      <Button onClick={more} busy={isLoadingMore}>
        Show more
      </Button>
    </div>
  )
