import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { FolderOpen, SearchX } from 'lucide-react'
import { Button } from '../../ui/forms/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { UploadButton } from './upload-button.tsx'

export const EmptyFolder = ({ parentId, reason }: { parentId: string | null; reason: string | false }) => (
  <EmptyState
    icon={<FolderOpen />}
    title={parentId === null ? t`No files yet` : t`This folder is empty`}
    action={<UploadButton parentId={parentId} reason={reason} />}
  >
    <Trans>
      Drop files or folders here to upload them, up to 100 MB per file. Agents and API clients can read them.
    </Trans>
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
