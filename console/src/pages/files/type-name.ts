import { msg, t } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import type { File as FileRecord } from '@atrium/client'
import { textOf } from '../../i18n/text.ts'
import { kindOf } from './file-kind.tsx'

const office = 'application/vnd.openxmlformats-officedocument.'
const openDocument = 'application/vnd.oasis.opendocument.'

const described: Record<string, MessageDescriptor> = {
  'application/octet-stream': msg`Binary file`,
  'application/pdf': msg`PDF document`,
  'application/msword': msg`Word document`,
  [`${office}wordprocessingml.document`]: msg`Word document`,
  'application/vnd.ms-excel': msg`Excel workbook`,
  [`${office}spreadsheetml.sheet`]: msg`Excel workbook`,
  'application/vnd.ms-powerpoint': msg`PowerPoint presentation`,
  [`${office}presentationml.presentation`]: msg`PowerPoint presentation`,
  [`${openDocument}text`]: msg`OpenDocument text`,
  [`${openDocument}spreadsheet`]: msg`OpenDocument spreadsheet`,
  [`${openDocument}presentation`]: msg`OpenDocument presentation`,
  'application/vnd.apache.parquet': msg`Parquet table`,
  'application/rtf': msg`RTF document`,
  'application/epub+zip': msg`EPUB book`,
  'text/markdown': msg`Markdown`,
  'text/plain': msg`Plain text`,
  'text/csv': msg`CSV table`,
  'text/tab-separated-values': msg`TSV table`,
}

/** Names of formats that are the same in every language. */
const formats: Record<string, string> = {
  'application/json': 'JSON',
  'application/javascript': 'JavaScript',
  'application/xml': 'XML',
  'application/yaml': 'YAML',
  'application/x-yaml': 'YAML',
  'application/vnd.sqlite3': 'SQLite',
  'application/x-sqlite3': 'SQLite',
  'text/css': 'CSS',
  'text/html': 'HTML',
  'text/javascript': 'JavaScript',
  'text/typescript': 'TypeScript',
  'text/tsx': 'TSX',
  'text/xml': 'XML',
  'text/yaml': 'YAML',
}

/** `image/svg+xml` → `SVG`. */
const formatOf = (mimeType: string): string =>
  (mimeType.split('/')[1] ?? mimeType)
    .replace(/^(?:x|vnd)[.-]/, '')
    .replace(/\+.*$/, '')
    .replace(/-compressed$/, '')
    .toUpperCase()

/** What a file is, in words: `PNG image`, `Word document`, `Folder`. */
export const typeName = (file: Pick<FileRecord, 'source' | 'mimeType'>): string => {
  const { source, mimeType } = file
  if (source === 'folder') return t`Folder`
  if (source === 'link') return t`Link`
  const type = mimeType ?? ''
  const known = described[type]
  if (known) return textOf(known)
  const format = formats[type] ?? formatOf(type)
  const kind = kindOf(file)
  if (kind === 'image') return t`${format} image`
  if (kind === 'audio') return t`${format} audio`
  if (kind === 'video') return t`${format} video`
  if (kind === 'archive') return t`${format} archive`
  return format
}
