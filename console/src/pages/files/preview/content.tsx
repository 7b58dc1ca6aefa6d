import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { File as FileRecord, Preview } from '@atrium/client'
import { Download, FileQuestionMark } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api, isCode, read } from '../../../api.ts'
import { Button } from '../../../ui/forms/button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { errorMessageOf } from '../../../ui/error-message.ts'
import { ErrorState } from '../../../ui/error-state.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { PlainText } from '../../../ui/text/long-text.tsx'
import { downloadFile } from '../changes.ts'
import { maxImageSourceBytes } from '../views/image-types.ts'
import { previewHtml } from './preview-html.ts'
import styles from './preview.module.css'
import { Spreadsheet } from './spreadsheet.tsx'

const imageTypes = new Set([
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'image/x-ms-bmp',
])

/** Types that few browsers display: the server makes an image of them. */
const convertedTypes = new Set(['image/heic', 'image/heif'])

// With the version, because a browser shows a picture from memory when its URL is the same.
const inlineUrl = ({ id }: FileRecord, { version }: FileRecord): string =>
  api.url(`/files/${id}`, { download: true, inline: true, version })

const imageUrl = ({ id }: FileRecord, { version }: FileRecord): string =>
  api.url(`/files/${id}/image`, { width: 2048, version })

const NoPreview = ({ file, reason }: { file: FileRecord; reason: string }) => (
  <EmptyState
    compact
    icon={<FileQuestionMark />}
    title={t`No preview`}
    action={
      <Button variant="primary" icon={<Download />} onClick={() => downloadFile(file)}>
        <Trans>Download</Trans>
      </Button>
    }
  >
    {reason}
  </EmptyState>
)

const Shown = ({ preview }: { preview: Preview }) => {
  const html = useMemo(() => (preview.html === undefined ? undefined : previewHtml(preview.html)), [preview.html])
  if (preview.kind === 'spreadsheet') return <Spreadsheet sheets={preview.sheets ?? []} />
  return (
    <div className={styles['paper']} tabIndex={0} role="region" aria-label={t`Content of ${preview.name}`}>
      {preview.truncated && (
        <Notice tone="info">
          <Trans>Only the beginning of the file is shown.</Trans>
        </Notice>
      )}
      {html === undefined ? (
        <pre className={styles['text']}>
          <PlainText text={preview.text ?? ''} />
        </pre>
      ) : (
        <article className={styles['document']}>
          {html.map((part, index) => (
            // The server writes only allow-listed tags without attributes except links, and previewHtml has checked that.
            // oxlint-disable-next-line react/no-danger, react/no-array-index-key -- see above; the content security policy also blocks scripts, and the parts of a document never change
            <div key={index} className={styles['part']} dangerouslySetInnerHTML={{ __html: part }} />
          ))}
        </article>
      )}
    </div>
  )
}

const ServerPreview = ({ file }: { file: FileRecord }) => {
  const preview = useQuery({ ...read('GET /files/:id/preview', { params: { id: file.id } }), staleTime: 300_000 })
  if (preview.data) return <Shown preview={preview.data} />
  if (isCode(preview.error, 'BAD_REQUEST')) return <NoPreview file={file} reason={errorMessageOf(preview.error)} />
  if (preview.error) return <ErrorState compact error={preview.error} onRetry={() => void preview.refetch()} />
  return <Skeleton rows={10} label={t`Loading preview`} />
}

/** The target of a link, which has the MIME type that the link's own record lacks. */
const useTarget = (file: FileRecord) =>
  useQuery({
    ...read('GET /files/:id', { params: { id: file.targetFileId ?? '' } }),
    enabled: file.targetFileId !== null,
  })

export interface Pixels {
  width: number
  height: number
}

export const Content = ({ file, onPixels }: { file: FileRecord; onPixels?: (pixels: Pixels) => void }) => {
  const target = useTarget(file)
  const [broken, setBroken] = useState(false)
  if (file.source === 'link' && !target.data) {
    if (isCode(target.error, 'NOT_FOUND'))
      return <NoPreview file={file} reason={t`The target of this link was deleted.`} />
    if (target.error) return <ErrorState compact error={target.error} onRetry={() => void target.refetch()} />
    return <Skeleton />
  }
  const shown = target.data ?? file
  const type = shown.mimeType ?? ''
  const url = inlineUrl(file, shown)
  const onError = (): void => setBroken(true)
  if (shown.status === 'pending') return <NoPreview file={file} reason={t`The upload is not complete.`} />
  if (broken) return <NoPreview file={file} reason={t`Your browser cannot display this file.`} />
  if (imageTypes.has(type)) {
    return (
      <div className={styles['stage']}>
        <img
          src={url}
          alt={file.name}
          onError={onError}
          onLoad={({ currentTarget }) =>
            onPixels?.({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight })
          }
        />
      </div>
    )
  }
  // Its pixels are not those of the file.
  if (convertedTypes.has(type) && shown.size <= maxImageSourceBytes)
    return (
      <div className={styles['stage']}>
        <img src={imageUrl(file, shown)} alt={file.name} onError={onError} />
      </div>
    )
  if (type.startsWith('video/'))
    return (
      <div className={styles['stage']}>
        <video
          src={url}
          controls
          onError={onError}
          onLoadedMetadata={({ currentTarget }) =>
            onPixels?.({ width: currentTarget.videoWidth, height: currentTarget.videoHeight })
          }
          aria-label={file.name}
        />
      </div>
    )
  if (type.startsWith('audio/'))
    return (
      <div className={styles['stage']}>
        <audio src={url} controls onError={onError} aria-label={file.name} />
      </div>
    )
  // Without a PDF viewer the browser would download the file.
  if (type === 'application/pdf' && navigator.pdfViewerEnabled) {
    // oxlint-disable-next-line react/iframe-missing-sandbox -- browsers show no PDF in a sandboxed iframe; the response's content security policy blocks scripts
    return <iframe className={styles['pdf']} src={url} title={file.name} />
  }
  return <ServerPreview file={file} />
}
