import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { FolderOpen, SearchX } from 'lucide-react'
import { formatBytes } from '../../format.ts'
import { Button } from '../../ui/forms/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { UploadButton } from './upload-button.tsx'

/** The largest upload, in bytes, which the server tells to clients of resumable uploads. */
const readUploadLimit = async (): Promise<number> => {
  const { headers } = await fetch('/api/v1/uploads', { method: 'OPTIONS' })
  return Number(headers.get('tus-max-size') ?? 0)
}

const UploadHint = () => {
  const { data: limit = 0 } = useQuery({
    queryKey: ['upload limit'],
    queryFn: readUploadLimit,
    staleTime: Infinity,
    retry: false,
  })
  const size = formatBytes(limit)
  return limit > 0 ? (
    <Trans>
      Drop files or folders here to upload them, up to {size} per file. Agents and API clients can read them.
    </Trans>
  ) : (
    <Trans>Drop files or folders here to upload them. Agents and API clients can read them.</Trans>
  )
}

export const EmptyFolder = ({ parentId, reason }: { parentId: string | null; reason: string | false }) => (
  <EmptyState
    icon={<FolderOpen />}
    title={parentId === null ? t`No files yet` : t`This folder is empty`}
    action={<UploadButton parentId={parentId} reason={reason} />}
  >
    <UploadHint />
  </EmptyState>
)

export const NoSearchResults = ({ search }: { search: string }) => (
  <EmptyState icon={<SearchX />} title={t`No results for “${search}”`}>
    <Trans>Search covers the names of files in this folder and its subfolders.</Trans>
  </EmptyState>
)

export const NoFilterResults = ({ onClear }: { onClear: () => void }) => (
  <EmptyState
    icon={<SearchX />}
    title={t`No files match the filters`}
    action={
      <Button onClick={onClear}>
        <Trans>Clear filters</Trans>
      </Button>
    }
  >
    <Trans>Filters cover this folder and its subfolders.</Trans>
  </EmptyState>
)
