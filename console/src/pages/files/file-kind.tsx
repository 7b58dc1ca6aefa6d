import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import {
  File,
  FileArchive,
  FileCode,
  FileImage,
  FileMusic,
  FileSpreadsheet,
  FileText,
  FileVideo,
  Folder,
  FolderLock,
  Link2,
  Lock,
} from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import styles from './file-kind.module.css'

export type Kind =
  | 'folder'
  | 'link'
  | 'image'
  | 'audio'
  | 'video'
  | 'sheet'
  | 'document'
  | 'text'
  | 'code'
  | 'archive'
  | 'pdf'
  | 'data'

const rules: [RegExp, Kind][] = [
  [/^image\//, 'image'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
  [/pdf$/, 'pdf'],
  [/csv|tab-separated|spreadsheet|excel/, 'sheet'],
  [/word|opendocument\.text|rtf|presentation|powerpoint|epub/, 'document'],
  [/zip|tar|gzip|7z/, 'archive'],
  [/^text\/(?:plain|markdown|x-markdown|x-log|x-rst|calendar|vcard)/, 'text'],
  [/^text\/|json|xml|yaml|javascript|typescript|sql|toml|graphql|php|ruby|python/, 'code'],
]

export const kindOf = ({ source, mimeType }: Pick<FileRecord, 'source' | 'mimeType'>): Kind => {
  if (source !== 'upload') return source
  return rules.find(([pattern]) => pattern.test(mimeType ?? ''))?.[1] ?? 'data'
}

const icons: Record<Kind, LucideIcon> = {
  folder: Folder,
  link: Link2,
  image: FileImage,
  audio: FileMusic,
  video: FileVideo,
  sheet: FileSpreadsheet,
  document: FileText,
  pdf: FileText,
  text: FileText,
  code: FileCode,
  archive: FileArchive,
  data: File,
}

/** Marks a folder that only some people see. */
export const RestrictedIcon = () => (
  <span className={styles['restricted']} role="img" aria-label={t`Restricted`} title={t`Restricted`}>
    <Lock aria-hidden="true" />
  </span>
)

export const KindIcon = ({ file }: { file: Pick<FileRecord, 'source' | 'mimeType' | 'isProtected'> }) => {
  const kind = kindOf(file)
  const Icon = kind === 'folder' && file.isProtected ? FolderLock : icons[kind]
  return <Icon className={styles['icon']} data-kind={kind} aria-hidden="true" />
}
