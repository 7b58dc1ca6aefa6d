import { FolderOpen, SearchX } from 'lucide-react'
import { EmptyState } from '../../ui/empty-state.tsx'
import { UploadButton } from './upload-button.tsx'

export const EmptyFolder = ({ parentId, reason }: { parentId: string | null; reason: string | false }) => (
  <EmptyState
    icon={<FolderOpen />}
    title={parentId === null ? 'No files yet' : 'This folder is empty'}
    action={<UploadButton parentId={parentId} reason={reason} />}
  >
    Drop files or whole folders anywhere here: documents, pictures, data, up to 100 MB each. Agents can read them, and
    so can your programs.
  </EmptyState>
)

export const NoSearchResults = ({ search }: { search: string }) => (
  <EmptyState icon={<SearchX />} title={`Nothing is called “${search}”`}>
    The search looks at names, in this folder and below it.
  </EmptyState>
)
