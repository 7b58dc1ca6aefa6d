import { apiPrefix } from '../platform/http/http.ts'
import type { FileRow } from './queries.ts'
import { isRestricted } from './access/guards.ts'
import { storageKeyOf } from './blobs/blobs.ts'
import type { TrashedRow } from './trash/queries.ts'

/** A file as the API returns it. `origin` is the origin of its URLs. */
export const fileRecord = ({ favorite, ...row }: FileRow & { favorite?: boolean }, orgId: string, origin: string) => ({
  ...row,
  // Absent unless true, so that all routes return the same record of a file that is no favorite.
  ...(favorite === true ? { favorite } : {}),
  ...(row.source === 'folder' ? { restricted: isRestricted(row) } : {}),
  storageKey: row.blobId === null ? null : storageKeyOf(orgId, row.blobId),
  storageUrl: row.source === 'folder' ? null : `${origin}${apiPrefix}/files/${row.id}?download=true`,
})

/** A file in the trash as the API returns it. Its bytes cannot be downloaded. */
export const trashedRecord = (row: TrashedRow, orgId: string, origin: string) => ({
  ...fileRecord(row, orgId, origin),
  storageUrl: null,
})
