import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Dialog } from '@base-ui/react/dialog'
import type { File as FileRecord } from '@atrium/client'
import { ChevronLeft, ChevronRight, Download, Ellipsis, PanelRight, Star, X } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { Link } from 'react-router'
import { formatBytes, formatDateTime, formatNumber } from '../../../format.ts'
import { importWithRetry } from '../../../load-page.ts'
import { PersonName } from '../../../person-name.tsx'
import { IconButton } from '../../../ui/forms/button.tsx'
import { DescriptionList } from '../../../ui/data/description-list.tsx'
import type { Description } from '../../../ui/data/description-list.tsx'
import { Menu } from '../../../ui/forms/menu.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { ErrorState } from '../../../ui/error-state.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { toast } from '../../../ui/toast.tsx'
import { downloadFile, tagFile } from '../changes.ts'
import { TagEditor } from '../dialogs.tsx'
import type { FileDialogRequest } from '../dialogs.tsx'
import { fileMenuFor } from '../file-menu.tsx'
import { KindIcon } from '../file-kind.tsx'
import { useFolderPath } from '../rows.ts'
import { typeName } from '../type-name.ts'
import { noteOpened, setFavorite } from '../views/favorites.ts'
import type { Pixels } from './content.tsx'
import styles from './preview.module.css'
import { Versions } from './versions.tsx'

const Content = lazy(async () => ({
  default: (await importWithRetry(() => import('./content.tsx'))).Content,
}))

const Location = ({ parentId }: { parentId: string | null }) => {
  const path = useFolderPath(parentId ?? undefined)
  const names = (path.data ?? []).map(({ name }) => name)
  if (parentId !== null && path.data === undefined) return null
  return (
    <Link className={styles['location']} to={parentId === null ? '/files' : `/files/${parentId}`}>
      {names.length === 0 ? t`All files` : names.join(' / ')}
    </Link>
  )
}

const maybe = (isShown: boolean, term: string, value: ReactNode): Description[] => (isShown ? [[term, value]] : [])

const Details = ({ file, pixels, mayWrite }: { file: FileRecord; pixels: Pixels | undefined; mayWrite: boolean }) => {
  const isUpload = file.source === 'upload'
  const hasPixels = pixels !== undefined && pixels.width > 0
  // What a person looks for first; the rest is for other programs.
  const items: Description[] = [
    [t`Type`, typeName(file)],
    ...maybe(isUpload, t`Size`, formatBytes(file.size)),
    ...maybe(hasPixels, t`Dimensions`, `${formatNumber(pixels?.width ?? 0)} × ${formatNumber(pixels?.height ?? 0)}`),
    [t`Created by`, <PersonName key="creator" userId={file.createdBy} />],
    [t`Modified`, formatDateTime(file.updatedAt)],
    [t`Created`, formatDateTime(file.createdAt)],
    [t`Location`, <Location key="location" parentId={file.parentId} />],
  ]
  const technical: Description[] = [
    ...maybe(file.mimeType !== null, t`Media type`, <code>{file.mimeType}</code>),
    [t`File ID`, <code key="id">{file.id}</code>],
    ...maybe(file.contentHash !== null, 'SHA-256', <code>{file.contentHash}</code>),
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
      <h2>
        <Trans>Technical details</Trans>
      </h2>
      <DescriptionList items={technical} />
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
  const [pixels, setPixels] = useState<Pixels>()
  // Focus the dialog instead of its first button, so that the arrow keys work at once.
  const popup = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (file?.status === 'ready' && file.source !== 'folder') void noteOpened(file)
    // oxlint-disable-next-line react/exhaustive-deps -- once for each file, not after each change of it
  }, [file?.id])
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
                <IconButton
                  label={file.favorite === true ? t`Remove from favorites` : t`Add to favorites`}
                  className={classNames(styles['star'], file.favorite === true && styles['favorite'])}
                  icon={<Star />}
                  onClick={() => void setFavorite([file], file.favorite !== true)}
                />
                <IconButton
                  label={t`Download`}
                  className={styles['download']}
                  icon={<Download />}
                  onClick={() => downloadFile(file)}
                />
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
                  <Content file={file} onPixels={setPixels} />
                </Suspense>
              ) : error != null ? (
                <ErrorState error={error} />
              ) : (
                <Skeleton />
              )}
            </div>
            {file && showDetails && <Details file={file} pixels={pixels} mayWrite={mayWrite} />}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
