import { Trans } from '@lingui/react/macro'
import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { AtriumError } from '@atrium/client'
import { useEffect, useState } from 'react'
import { Button } from '../ui/forms/button.tsx'
import styles from './layout.module.css'

const retryEveryMs = 5_000

/** Shown while the server is unreachable; retries every 5 seconds. Data that was loaded stays visible. */
export const OfflineBanner = () => {
  const client = useQueryClient()
  const fetching = useIsFetching()
  const [offline, setOffline] = useState(false)
  useEffect(
    () =>
      client.getQueryCache().subscribe(({ type, query }) => {
        if (type !== 'updated') return
        const { error, fetchStatus } = query.state
        if (error instanceof AtriumError && error.code === 'NETWORK') setOffline(true)
        else if (fetchStatus === 'idle' && query.state.status === 'success') setOffline(false)
      }),
    [client],
  )
  const retry = (): void => void client.refetchQueries({ type: 'active' })
  useEffect(() => {
    if (!offline) return undefined
    const timer = setInterval(retry, retryEveryMs)
    return () => clearInterval(timer)
  })
  if (!offline) return null
  return (
    <div className={styles['offline']} role="status">
      <span>
        <Trans>Server unreachable. The data on this page may be out of date.</Trans>
      </span>
      <Button small variant="quiet" busy={fetching > 0} onClick={retry}>
        <Trans>Retry now</Trans>
      </Button>
    </div>
  )
}
