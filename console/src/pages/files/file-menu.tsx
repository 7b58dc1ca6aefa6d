import type { File as FileRecord } from 'atrium-sdk'
import {
  Download,
  FolderInput,
  Link2,
  Link as LinkIcon,
  PenLine,
  SquareArrowOutUpRight,
  Tags,
  Trash2,
} from 'lucide-react'
import { copyText } from '../../clipboard.ts'
import { shareableUrl } from '../../scope.ts'
import type { MenuEntries } from '../../ui/forms/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { downloadFile } from './changes.ts'
import type { Asking } from './dialogs.tsx'

export const writeReason = (mayWrite: boolean): string | false =>
  !mayWrite && 'Your role may look at files here, not change them.'

interface Options {
  mayWrite: boolean
  ask: (asking: Asking) => void
  open: (file: FileRecord) => void
}

const copyAddress = ({ id, source, parentId }: FileRecord): void => {
  const path = source === 'folder' ? `/files/${id}` : `/files${parentId === null ? '' : `/${parentId}`}?open=${id}`
  copyText(shareableUrl(path)).then(
    () => toast.done('The address is copied'),
    (error: unknown) => toast.failed('The address could not be copied', error),
  )
}

/** What can be done with these files, in menus. What cannot says why. */
export const fileMenuFor = (files: readonly FileRecord[], { mayWrite, ask, open }: Options): MenuEntries => {
  const [file] = files
  if (!file) return []
  const isProtected = files.some((one) => one.isProtected)
  const off = writeReason(mayWrite) || (isProtected && 'A project’s folder follows its project.')
  const single: MenuEntries =
    files.length === 1
      ? [
          { label: 'Open', icon: <SquareArrowOutUpRight />, shortcut: 'Enter', onSelect: () => open(file) },
          ...(file.source === 'folder'
            ? []
            : [
                {
                  label: 'Download',
                  icon: <Download />,
                  disabledReason: file.status === 'pending' && 'Its bytes are not here yet.',
                  onSelect: () => downloadFile(file),
                },
              ]),
          { label: 'Copy address', icon: <LinkIcon />, onSelect: () => copyAddress(file) },
          'separator',
          {
            label: 'Rename',
            icon: <PenLine />,
            shortcut: 'F2',
            disabledReason: off,
            onSelect: () => ask({ about: 'rename', file }),
          },
          {
            label: 'Tags',
            icon: <Tags />,
            disabledReason: writeReason(mayWrite),
            onSelect: () => ask({ about: 'tags', file }),
          },
          ...(file.source === 'folder'
            ? []
            : [
                {
                  label: 'Create a link',
                  icon: <Link2 />,
                  disabledReason: writeReason(mayWrite),
                  onSelect: () => ask({ about: 'link', file }),
                },
              ]),
        ]
      : []
  return [
    ...single,
    { label: 'Move', icon: <FolderInput />, disabledReason: off, onSelect: () => ask({ about: 'move', files }) },
    'separator',
    {
      label: 'Delete',
      icon: <Trash2 />,
      danger: true,
      shortcut: 'Del',
      disabledReason: off,
      onSelect: () => ask({ about: 'delete', files }),
    },
  ]
}
