import { textOf } from '../../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Dialog } from '@base-ui/react/dialog'
import type { File as FileRecord } from '@atrium/client'
import { ChevronLeft, ChevronRight, Download, Ellipsis, PanelRight, X } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { formatBytes, formatDateTime } from '../../../format.ts'
import { importWithRetry } from '../../../load-page.ts'
import { IconButton } from '../../../ui/forms/button.tsx'
import { DescriptionList } from '../../../ui/data/description-list.tsx'
import type { Description } from '../../../ui/data/description-list.tsx'
import { Menu } from '../../../ui/forms/menu.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { toast } from '../../../ui/toast.tsx'
import { downloadFile, tagFile } from '../changes.ts'
import { TagEditor } from '../dialogs.tsx'
import type { FileDialogRequest } from '../dialogs.tsx'
import { fileMenuFor } from '../file-menu.tsx'
import { KindIcon } from '../file-kind.tsx'
import styles from './preview.module.css'
import { Versions } from './versions.tsx'

const Content = lazy(async () => ({
  default: (await importWithRetry(() => import('./content.tsx'))).Content,
}))

const sourceNames = { upload: msg`File`, folder: msg`Folder`, link: msg`Link` }

const Details = ({ file, mayWrite }: { file: FileRecord; mayWrite: boolean }) => {
  const items: Description[] = [
    [t`Type`, file.mimeType ?? textOf(sourceNames[file.source])],
    ...(file.source === 'upload' ? [[t`Size`, formatBytes(file.size)] satisfies Description] : []),
    [t`Created`, formatDateTime(file.createdAt)],
    [t`Modified`, formatDateTime(file.updatedAt)],
    ...(file.contentHash === null
      ? []
      : [['SHA-256', <code key="hash">{file.contentHash}</code>] satisfies Description]),
  ]
  return (
    <aside className={styles['details']} aria-label={t`Details`}>
      <DescriptionList items={items} />
      <h2>
        <Trans>Tags</Trans>
      </h2>
      {mayWrite ? (
        <TagEditor
          tags={file.tags}
          onChange={(tags) => {
            tagFile(file, tags).catch((error: unknown) => toast.failed(t`Tags could not be saved`, error))
          }}
        />
      ) : (
        <p>{file.tags.length === 0 ? t`None` : file.tags.join(', ')}</p>
      )}
      {file.source === 'upload' && file.status === 'ready' && <Versions file={file} mayWrite={mayWrite} />}
    </aside>
  )
}

export interface PreviewProps {
  /** Undefined while it loads. */
  file: FileRecord | undefined
  error: unknown
  onClose: () => void
  /** Opens the previous (-1) or next (1) file of the list. */
  onStep: (step: -1 | 1) => void
  openDialog: (request: FileDialogRequest) => void
  mayWrite: boolean
}

const isTyping = (target: EventTarget): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLMediaElement

/** A full-window preview of a file. */
export const Preview = ({ file, error, onClose, onStep, openDialog, mayWrite }: PreviewProps) => {
  const [showDetails, setShowDetails] = useState(matchMedia('(width >= 900px)').matches)
  // Focus the dialog instead of its first button, so that the arrow keys work at once.
  const popup = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isTyping(event.target) || event.altKey || event.metaKey || event.ctrlKey) return
    // In a spreadsheet the arrow keys scroll.
    if (event.target instanceof Element && event.target.closest('[data-scrolls]')) return
    if (event.key === 'ArrowLeft') onStep(-1)
    if (event.key === 'ArrowRight') onStep(1)
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup ref={popup} className={styles['popup']} initialFocus={popup} onKeyDown={onKeyDown}>
          <header className={styles['header']}>
            {file && <KindIcon file={file} />}
            <Dialog.Title className={styles['title']}>{file?.name ?? t`File`}</Dialog.Title>
            <IconButton label={t`Previous file`} shortcut="←" icon={<ChevronLeft />} onClick={() => onStep(-1)} />
            <IconButton label={t`Next file`} shortcut="→" icon={<ChevronRight />} onClick={() => onStep(1)} />
            {file && (
              <>
                <IconButton label={t`Download`} icon={<Download />} onClick={() => downloadFile(file)} />
                <Menu
                  trigger={<IconButton label={t`Actions`} icon={<Ellipsis />} />}
                  entries={fileMenuFor([file], {
                    mayWrite,
                    openDialog,
                    open: () => undefined,
                    showInFolder: () => undefined,
                  }).slice(1)}
                />
                <IconButton
                  label={showDetails ? t`Hide details` : t`Show details`}
                  icon={<PanelRight />}
                  aria-pressed={showDetails}
                  onClick={() => setShowDetails(!showDetails)}
                />
              </>
            )}
            <Dialog.Close render={<IconButton label={t`Close`} shortcut="Esc" icon={<X />} />} />
          </header>
          <div className={styles['body']}>
            <div className={styles['content']}>
              {file ? (
                <Suspense fallback={<Skeleton />}>
                  <Content file={file} />
                </Suspense>
              ) : error != null ? (
                <ErrorState error={error} />
              ) : (
                <Skeleton />
              )}
            </div>
            {file && showDetails && <Details file={file} mayWrite={mayWrite} />}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
