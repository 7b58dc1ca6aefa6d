import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { api } from '../../../api.ts'
import { toast } from '../../../ui/toast.tsx'
import { countOf, refreshFiles, restoreFiles } from '../changes.ts'

export const restore = async (file: FileRecord): Promise<void> => {
  if (await restoreFiles([file])) toast.done(t`Restored ${countOf([file])}`)
}

export const deletePermanently = async (file: FileRecord): Promise<void> => {
  try {
    await api.call('DELETE /files/:id', { params: { id: file.id }, query: { permanent: true, trashed: true } })
  } finally {
    // Also after an error: another person may have deleted or restored it, and no event tells of a deletion from the trash.
    await refreshFiles()
  }
  toast.done(t`Deleted ${countOf([file])} permanently`)
}

export const emptyTrash = async (): Promise<void> => {
  await api.call('DELETE /files/trash')
  await refreshFiles()
  toast.done(t`Trash emptied`)
}
