import { Trans } from '@lingui/react/macro'
import { Button } from '../forms/button.tsx'
import styles from './load-more.module.css'

export const LoadMore = ({ more, isLoadingMore }: { more: (() => void) | undefined; isLoadingMore: boolean }) =>
  more && (
    <div className={styles['more']}>
      <Button onClick={more} busy={isLoadingMore}>
        <Trans>Load more</Trans>
      </Button>
    </div>
  )
