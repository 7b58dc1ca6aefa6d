import type { File as FileRecord } from '@atrium/client'
import type { Chosen } from '../../uploads.ts'

const readAll = async (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> => {
  const entries: FileSystemEntry[] = []
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (batch.length === 0) return entries
    entries.push(...batch)
  }
}

const filesOf = async (entry: FileSystemEntry, path: string[]): Promise<Chosen[]> => {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    return [{ file, path }]
  }
  const inside: Chosen[] = []
  for (const child of await readAll((entry as FileSystemDirectoryEntry).createReader())) {
    inside.push(...(await filesOf(child, [...path, entry.name])))
  }
  return inside
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
    if (entry) chosen.push(...(await filesOf(entry, [])))
    else if (file) chosen.push({ file, path: [] })
  }
  return chosen
}

/** The files of a file input; for selected folders the path is in `webkitRelativePath`. */
export const filesOfInput = (files: FileList): Chosen[] =>
  [...files].map((file) => ({ file, path: file.webkitRelativePath.split('/').slice(0, -1) }))

export const isFileDrag = ({ types }: DataTransfer): boolean => types.includes('Files')

const rowsType = 'application/x-atrium-files'

/** Whether rows of the list are dragged. Before the drop, browsers expose only the types, not the data. */
export const isRowDrag = ({ types }: DataTransfer): boolean => types.includes(rowsType)

export const writeDraggedRows = (data: DataTransfer, files: readonly FileRecord[]): void => {
  data.effectAllowed = 'move'
  data.setData(rowsType, JSON.stringify(files))
}

export const readDraggedRows = (data: DataTransfer): FileRecord[] => JSON.parse(data.getData(rowsType)) as FileRecord[]
