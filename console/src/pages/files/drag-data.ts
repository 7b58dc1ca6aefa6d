import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { formatNumber } from '../../format.ts'
import type { Chosen } from '../../uploads.ts'

/** The tab keeps a list of all uploads, and each file is a request. */
const maxChosen = 10_000

const tooManyChosen = (): Error => {
  const max = formatNumber(maxChosen)
  return new Error(t`At most ${max} files can be uploaded at once.`)
}

const readAll = async (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> => {
  const entries: FileSystemEntry[] = []
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (batch.length === 0) return entries
    entries.push(...batch)
  }
}

/** Adds the files of a dropped file or folder. Throws when there are too many, before it has read them all. */
const addFiles = async (chosen: Chosen[], entry: FileSystemEntry, path: string[]): Promise<void> => {
  if (chosen.length >= maxChosen) throw tooManyChosen()
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    chosen.push({ file, path })
    return
  }
  const inside = await readAll((entry as FileSystemDirectoryEntry).createReader())
  const folder = [...path, entry.name]
  if (inside.length === 0) chosen.push({ file: undefined, path: folder })
  for (const child of inside) await addFiles(chosen, child, folder)
}

/** All files of a drop; files in dropped folders have their path. */
export const filesOfDrop = async (data: DataTransfer): Promise<Chosen[]> => {
  // The browser clears the list when the event handler returns, so it is read before the first await.
  const entries = [...data.items].map((item) => ({
    entry: item.kind === 'file' ? item.webkitGetAsEntry() : null,
    file: item.getAsFile(),
  }))
  const chosen: Chosen[] = []
  for (const { entry, file } of entries) {
    if (entry) await addFiles(chosen, entry, [])
    else if (file) chosen.push({ file, path: [] })
  }
  return chosen
}

/** The files of a file input; for selected folders the path is in `webkitRelativePath`. Throws when there are too many. */
export const filesOfInput = (files: FileList): Chosen[] => {
  if (files.length > maxChosen) throw tooManyChosen()
  return [...files].map((file) => ({ file, path: file.webkitRelativePath.split('/').slice(0, -1) }))
}

export const isFileDrag = ({ types }: DataTransfer): boolean => types.includes('Files')

const rowsType = 'application/x-atrium-files'

/** Whether rows of the list are dragged. Before the drop, browsers expose only the types, not the data. */
export const isRowDrag = ({ types }: DataTransfer): boolean => types.includes(rowsType)

export const writeDraggedRows = (data: DataTransfer, files: readonly FileRecord[]): void => {
  data.effectAllowed = 'move'
  data.setData(rowsType, JSON.stringify(files))
}

export const readDraggedRows = (data: DataTransfer): FileRecord[] => JSON.parse(data.getData(rowsType)) as FileRecord[]
