import type { File as FileRecord } from 'atrium-sdk'
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

/** All files of a drop, those in dropped folders with their way. */
export const filesOfDrop = async (data: DataTransfer): Promise<Chosen[]> => {
  // The list is gone once the event is over, so it is taken before anything is waited for.
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

/** Of a file field, where chosen folders show in `webkitRelativePath`. */
export const filesOfInput = (files: FileList): Chosen[] =>
  [...files].map((file) => ({ file, path: file.webkitRelativePath.split('/').slice(0, -1) }))

export const isFileDrag = ({ types }: DataTransfer): boolean => types.includes('Files')

const rowsType = 'application/x-atrium-files'

/** Rows of the list that are being dragged; the browser keeps the data from us until they are dropped. */
export const isRowDrag = ({ types }: DataTransfer): boolean => types.includes(rowsType)

export const carryRows = (data: DataTransfer, files: readonly FileRecord[]): void => {
  data.effectAllowed = 'move'
  data.setData(rowsType, JSON.stringify(files))
}

export const carriedRows = (data: DataTransfer): FileRecord[] => JSON.parse(data.getData(rowsType)) as FileRecord[]
