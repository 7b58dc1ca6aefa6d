import { apiPrefix } from '../platform/http/http.ts'
import type { FileRow } from './queries.ts'
import { isRestricted } from './access/guards.ts'
import { storageKeyOf } from './blobs/blobs.ts'
import type { TrashedRow } from './trash/queries.ts'

/** A file as the API returns it. `origin` is the origin of its URLs. */
export const fileRecord = (row: FileRow, orgId: string, origin: string) => ({
  ...row,
  ...(row.source === 'folder' ? { restricted: isRestricted(row) } : {}),
  storageKey: row.blobId === null ? null : storageKeyOf(orgId, row.blobId),
  storageUrl: row.source === 'folder' ? null : `${origin}${apiPrefix}/files/${row.id}?download=true`,
})

/** A file in the trash as the API returns it. Its bytes cannot be downloaded. */
export const trashedRecord = (row: TrashedRow, orgId: string, origin: string) => ({
  ...fileRecord(row, orgId, origin),
  storageUrl: null,
})
