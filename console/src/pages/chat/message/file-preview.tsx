import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { Download, Folder, X } from 'lucide-react'
import { createContext, lazy, Suspense, useContext, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { api, read } from '../../../api.ts'
import { importWithRetry } from '../../../load-page.ts'
import { ErrorState } from '../../../ui/error-state.tsx'
import { ButtonLink, IconButton } from '../../../ui/forms/button.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { downloadFile } from '../../files/changes.ts'
import styles from './file-preview.module.css'

const Content = lazy(async () => ({
  default: (await importWithRetry(() => import('../../files/preview/content.tsx'))).Content,
}))

/** A file over the conversation: pictures, PDF files, documents, spreadsheets and text. */
const FilePreview = ({ fileId, name, onClose }: { fileId: string; name: string; onClose: () => void }) => {
  const file = useQuery(read('GET /files/:id', { params: { id: fileId } }))
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup ref={popup} className={styles['popup']} initialFocus={popup}>
          <header className={styles['header']}>
            <Dialog.Title className={styles['title']}>{file.data?.name ?? name}</Dialog.Title>
            {file.data && (
              <>
                <ButtonLink
                  variant="quiet"
                  icon={<Folder />}
                  to={`/files?open=${fileId}`}
                  aria-label={t`Open in Files`}
                >
                  <span className={styles['wide']}>
                    <Trans>Open in Files</Trans>
                  </span>
                </ButtonLink>
                <IconButton
                  label={t`Download`}
                  icon={<Download />}
                  onClick={() => file.data && downloadFile(file.data)}
                />
              </>
            )}
            <Dialog.Close render={<IconButton label={t`Close`} shortcut="Esc" icon={<X />} />} />
          </header>
          <div className={styles['content']}>
            {file.data ? (
              <Suspense fallback={<Skeleton />}>
                <Content file={file.data} />
              </Suspense>
            ) : file.error ? (
              <ErrorState error={file.error} onRetry={() => void file.refetch()} />
            ) : (
              <Skeleton />
            )}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

const Opener = createContext<((file: { fileId: string; name: string }) => void) | undefined>(undefined)

/** Lets the links of files inside it open a preview. */
export const FilePreviews = ({ children }: { children: ReactNode }) => {
  const [open, setOpen] = useState<{ fileId: string; name: string }>()
  return (
    <Opener value={setOpen}>
      {children}
      {open && <FilePreview {...open} onClose={() => setOpen(undefined)} />}
    </Opener>
  )
}

/** Opens a preview of a file; in another tab, or where there is no preview, the file in Files. */
export const FileLink = ({
  fileId,
  name,
  className,
  children,
}: {
  fileId: string
  name: string
  className?: string | undefined
  children: ReactNode
}) => {
  const open = useContext(Opener)
  return (
    <Link
      to={`/files?open=${fileId}`}
      className={className}
      onClick={(event) => {
        if (!open || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        open({ fileId, name })
      }}
    >
      {children}
    </Link>
  )
}

const pictures = /\.(?:png|jpe?g|gif|webp|avif|hei[cf])$/i

export const isPictureName = (name: string): boolean => pictures.test(name)

/** A small picture of a file; `otherwise` until it is deleted, and for what is not a picture. */
export const Thumbnail = ({
  fileId,
  className,
  otherwise,
}: {
  fileId: string
  className: string | undefined
  otherwise: ReactNode
}) => {
  const [isBroken, setBroken] = useState(false)
  if (isBroken) return otherwise
  const url = api.url(`/files/${fileId}/image`, { width: 512 })
  return <img src={url} alt="" loading="lazy" className={className} onError={() => setBroken(true)} />
}
