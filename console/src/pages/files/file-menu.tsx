import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import {
  Download,
  FolderArchive,
  FolderInput,
  FolderOpen,
  Link2,
  Link as LinkIcon,
  Lock,
  PenLine,
  Share2,
  SquareArrowOutUpRight,
  Star,
  StarOff,
  Tags,
  Trash2,
} from 'lucide-react'
import { copyText } from '../../clipboard.ts'
import { shareableUrl } from '../../scope.ts'
import type { MenuEntries } from '../../ui/forms/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { downloadArchive, downloadFile } from './changes.ts'
import type { FileDialogRequest } from './dialogs.tsx'
import { setFavorite } from './views/favorites.ts'

export const writeReason = (mayWrite: boolean): string | false =>
  !mayWrite && t`You do not have permission to change files.`

interface Options {
  mayWrite: boolean
  openDialog: (request: FileDialogRequest) => void
  open: (file: FileRecord) => void
  /** Opens the folder that contains the file. */
  showInFolder: (file: FileRecord) => void
}

const copyLink = ({ id, source, parentId }: FileRecord): void => {
  const path = source === 'folder' ? `/files/${id}` : `/files${parentId === null ? '' : `/${parentId}`}?open=${id}`
  copyText(shareableUrl(path)).then(
    () => toast.done(t`Link copied`),
    (error: unknown) => toast.failed(t`Link could not be copied`, error),
  )
}

/** As many as the API puts into one archive. */
const mostInArchive = 100

const archiveEntry = (files: readonly FileRecord[]): MenuEntries[number] => ({
  label: t`Download as ZIP`,
  icon: <FolderArchive />,
  disabledReason:
    (files.length > mostInArchive && t`At most ${mostInArchive} items can be downloaded together.`) ||
    (files.some(({ status }) => status === 'pending') && t`The upload is not complete.`),
  onSelect: () => void downloadArchive(files),
})

const favoriteEntry = (files: readonly FileRecord[]): MenuEntries[number] => {
  const areFavorites = files.every(({ favorite }) => favorite === true)
  return {
    label: areFavorites ? t`Remove from favorites` : t`Add to favorites`,
    icon: areFavorites ? <StarOff /> : <Star />,
    onSelect: () => void setFavorite(files, !areFavorites),
  }
}

/** Menu entries for the selected files. Disabled entries give the reason. */
export const fileMenuFor = (
  files: readonly FileRecord[],
  { mayWrite, openDialog, open, showInFolder }: Options,
): MenuEntries => {
  const [file] = files
  if (!file) return []
  const isProtected = files.some((one) => one.isProtected)
  const disabledReason = writeReason(mayWrite) || (isProtected && t`The folder of a project is managed by its project.`)
  const single: MenuEntries =
    files.length === 1
      ? [
          { label: t`Open`, icon: <SquareArrowOutUpRight />, shortcut: 'Enter', onSelect: () => open(file) },
          ...(file.source === 'folder'
            ? [archiveEntry(files)]
            : [
                {
                  label: t`Download`,
                  icon: <Download />,
                  disabledReason: file.status === 'pending' && t`The upload is not complete.`,
                  onSelect: () => downloadFile(file),
                },
              ]),
          ...(file.path
            ? [{ label: t`Show in folder`, icon: <FolderOpen />, onSelect: () => showInFolder(file) }]
            : []),
          favoriteEntry(files),
          { label: t`Copy link`, icon: <LinkIcon />, onSelect: () => copyLink(file) },
          ...(file.source === 'link'
            ? []
            : [
                {
                  label: t`Share…`,
                  icon: <Share2 />,
                  disabledReason:
                    writeReason(mayWrite) || (file.status === 'pending' && t`The upload is not complete.`),
                  onSelect: () => openDialog({ kind: 'share', file }),
                },
              ]),
          ...(file.source === 'folder'
            ? [
                {
                  label: t`Manage access…`,
                  icon: <Lock />,
                  onSelect: () => openDialog({ kind: 'access', file }),
                },
              ]
            : []),
          'separator',
          {
            label: t`Rename`,
            icon: <PenLine />,
            shortcut: 'F2',
            disabledReason,
            onSelect: () => openDialog({ kind: 'rename', file }),
          },
          {
            label: t`Edit tags`,
            icon: <Tags />,
            disabledReason: writeReason(mayWrite),
            onSelect: () => openDialog({ kind: 'tags', file }),
          },
          ...(file.source === 'folder'
            ? []
            : [
                {
                  label: t`Create link`,
                  icon: <Link2 />,
                  disabledReason: writeReason(mayWrite),
                  onSelect: () => openDialog({ kind: 'link', file }),
                },
              ]),
        ]
      : [archiveEntry(files), favoriteEntry(files)]
  return [
    ...single,
    { label: t`Move to…`, icon: <FolderInput />, disabledReason, onSelect: () => openDialog({ kind: 'move', files }) },
    'separator',
    {
      label: t`Delete`,
      icon: <Trash2 />,
      danger: true,
      shortcut: 'Del',
      disabledReason,
      onSelect: () => openDialog({ kind: 'delete', files }),
    },
  ]
}
