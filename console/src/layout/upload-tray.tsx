import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { AtriumError } from '@atrium/client'
import { Check, ChevronDown, ChevronUp, Pause, Play, RotateCcw, X } from 'lucide-react'
import { useLayoutEffect, useRef, useState } from 'react'
import { formatBytes } from '../format.ts'
import { cancelAllUploads, cancelUpload, clearUploads, pauseUpload, resumeUpload, retryUpload } from '../uploads.ts'
import { isOpen, useUploads } from '../uploads/state.ts'
import type { Upload } from '../uploads/state.ts'
import { ProgressBar } from '../ui/data/progress-bar.tsx'
import { errorMessageOf, requestIdOf } from '../ui/error-message.ts'
import { Button, IconButton } from '../ui/forms/button.tsx'
import { setCoveredBottom } from '../ui/covered-bottom.ts'
import { VirtualList } from '../ui/data/virtual-list.tsx'
import styles from './upload-tray.module.css'

const statusText = ({ state, note, sent, size, error }: Upload): string => {
  if (state === 'failed') {
    const requestId = requestIdOf(error)
    const message = errorMessageOf(error)
    return requestId === undefined ? message : t`${message} Request ID: ${requestId}`
  }
  if (state === 'done') return formatBytes(size)
  if (state === 'cancelled') return t`Cancelled`
  if (state === 'storing') return t`Processing`
  if (state === 'waiting') return note ?? t`Waiting`
  if (state === 'paused') return t`Paused at ${formatBytes(sent)} of ${formatBytes(size)}`
  return t`${formatBytes(sent)} of ${formatBytes(size)}`
}

const fractionOf = ({ state, sent, size }: Upload): number => {
  if (state === 'done' || state === 'storing') return 1
  return size === 0 ? 0 : sent / size
}

const Row = ({ upload }: { upload: Upload }) => {
  const { id, name, state, isResumable } = upload
  const open = isOpen(upload)
  return (
    <div role="listitem" className={styles['row']} data-state={state}>
      <div className={styles['text']}>
        <span className={styles['name']} title={name}>
          {name}
        </span>
        <span className={styles['word']} title={statusText(upload)}>
          {statusText(upload)}
        </span>
        {open && <ProgressBar value={fractionOf(upload)} label={t`Upload of ${name}`} />}
      </div>
      {isResumable && (state === 'waiting' || state === 'sending') && (
        <IconButton small label={t`Pause ${name}`} icon={<Pause />} onClick={() => pauseUpload(id)} />
      )}
      {state === 'paused' && (
        <IconButton small label={t`Resume ${name}`} icon={<Play />} onClick={() => resumeUpload(id)} />
      )}
      {open && <IconButton small label={t`Cancel ${name}`} icon={<X />} onClick={() => cancelUpload(id)} />}
      {state === 'failed' && (
        <IconButton small label={t`Retry ${name}`} icon={<RotateCcw />} onClick={() => retryUpload(id)} />
      )}
      {state === 'done' && <Check className={styles['done']} aria-label={t`Uploaded`} />}
    </div>
  )
}

const summaryOf = (uploads: readonly Upload[]): string => {
  const count = (...states: Upload['state'][]): number => uploads.filter(({ state }) => states.includes(state)).length
  const open = count('waiting', 'sending', 'storing', 'paused')
  const failed = count('failed')
  const done = count('done')
  if (open > 0) return t`Uploading ${open} of ${uploads.length}`
  if (failed > 0) return t`${failed} failed, ${done} uploaded`
  return t`${done} uploaded`
}

/** Why the org rejects uploads, for example a full quota. A row is too short for this message, and phones have no tooltips. */
const rejectionOf = (uploads: readonly Upload[]): string | undefined => {
  const rejected = uploads.find(
    ({ state, error }) =>
      state === 'failed' &&
      error instanceof AtriumError &&
      (error.code === 'PAYMENT_REQUIRED' || error.code === 'FORBIDDEN'),
  )
  return rejected && errorMessageOf(rejected.error)
}

// The distance of the tray from the end of the page, and a gap above it.
const trayMargin = 24

/** Keeps the page clear of the tray while it is shown. */
const useReservedSpace = () => {
  const tray = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const { current } = tray
    if (!current) return undefined
    const observer = new ResizeObserver(() => setCoveredBottom(Math.ceil(current.offsetHeight) + trayMargin))
    observer.observe(current)
    return () => {
      observer.disconnect()
      setCoveredBottom(0)
    }
  }, [])
  return tray
}

const rowHeight = 52
const maxVisibleRows = 5

/** The uploads of this tab, shown on every page until they are cleared. Rendered only while there are any. */
export const UploadTray = () => {
  const uploads = useUploads()
  const [collapsed, setCollapsed] = useState(false)
  const tray = useReservedSpace()
  const open = uploads.filter(({ state }) => state !== 'done' && state !== 'failed' && state !== 'cancelled')
  const bytes = uploads.reduce((sum, { size }) => sum + size, 0)
  const sent = uploads.reduce((sum, one) => sum + fractionOf(one) * one.size, 0)
  const rejection = rejectionOf(uploads)
  return (
    <section ref={tray} className={styles['tray']} aria-label={t`Uploads`}>
      <header className={styles['header']}>
        <h2>{summaryOf(uploads)}</h2>
        <span className="visually-hidden" role="status">
          {open.length === 0 ? summaryOf(uploads) : t`Uploading`}
        </span>
        {open.length > 0 ? (
          <Button small variant="quiet" onClick={cancelAllUploads}>
            <Trans>Cancel all</Trans>
          </Button>
        ) : (
          <Button small variant="quiet" onClick={clearUploads}>
            <Trans>Clear</Trans>
          </Button>
        )}
        <IconButton
          small
          label={collapsed ? t`Show uploads` : t`Hide uploads`}
          icon={collapsed ? <ChevronUp /> : <ChevronDown />}
          onClick={() => setCollapsed(!collapsed)}
        />
      </header>
      {open.length > 0 && <ProgressBar value={bytes === 0 ? 0 : sent / bytes} label={t`All uploads`} />}
      {rejection !== undefined && <p className={styles['reason']}>{rejection}</p>}
      {!collapsed && (
        <div className={styles['list']} data-rows={Math.min(uploads.length, maxVisibleRows)}>
          <VirtualList
            role="list"
            label={t`Uploads`}
            count={uploads.length}
            rowHeight={rowHeight}
            renderRow={(index) => {
              const upload = uploads[index]
              return upload && <Row upload={upload} />
            }}
          />
        </div>
      )}
    </section>
  )
}
