import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { api, queryClient } from '../../../api.ts'
import { forEachConcurrently } from '../../../rate-limit.ts'
import { refreshFiles, reportErrors } from '../changes.ts'

/** Adds files to the favorites of the person, or removes them. */
export const setFavorite = async (files: readonly FileRecord[], isFavorite: boolean): Promise<void> => {
  const outcome = await forEachConcurrently(files, ({ id }) =>
    isFavorite
      ? api.call('PUT /files/:id/favorite', { params: { id } })
      : api.call('DELETE /files/:id/favorite', { params: { id } }),
  )
  await refreshFiles()
  reportErrors(t`Favorites could not be changed`, outcome, files.length)
}

const isRecentList = (key: readonly unknown[]): boolean => {
  const { query } = (key[3] ?? {}) as { query?: { recent?: boolean } }
  return key[0] === 'GET /files' && query?.recent === true
}

/**
 * Puts an opened file among the recent ones. A list of them that is shown stays as it is: its next file would be another
 * one. Failures are not shown, because nothing that the person asked for has failed.
 */
export const noteOpened = async ({ id }: FileRecord): Promise<void> => {
  try {
    await api.call('PUT /files/:id/recent', { params: { id } })
    await queryClient.invalidateQueries({ predicate: ({ queryKey }) => isRecentList(queryKey), refetchType: 'none' })
  } catch {
    // The file was deleted, or the server is not reachable.
  }
}
