import type { File as FileRecord } from 'atrium-sdk'
import { useState } from 'react'

export interface Selection {
  files: ReadonlyMap<string, FileRecord>
  /** The row that the keyboard is at. */
  active: number
  setActive: (index: number) => void
  only: (index: number, file: FileRecord) => void
  toggle: (index: number, file: FileRecord) => void
  /** From where the last one was chosen to here. */
  extendTo: (index: number) => void
  all: (files: readonly FileRecord[]) => void
  clear: () => void
}

/** Which rows of a listing are chosen; `of` is another listing when it changes, and begins with none. */
export const useSelection = (of: string, rowAt: (index: number) => FileRecord | undefined): Selection => {
  const [files, setFiles] = useState<ReadonlyMap<string, FileRecord>>(new Map())
  const [active, setActive] = useState(0)
  const [anchor, setAnchor] = useState(0)
  const [shown, setShown] = useState(of)
  if (shown !== of) {
    setShown(of)
    setFiles(new Map())
    setActive(0)
    setAnchor(0)
  }
  const at = (index: number): void => {
    setActive(index)
    setAnchor(index)
  }
  return {
    files,
    active,
    setActive,
    only: (index, file) => {
      at(index)
      setFiles(new Map([[file.id, file]]))
    },
    toggle: (index, file) => {
      at(index)
      const next = new Map(files)
      if (!next.delete(file.id)) next.set(file.id, file)
      setFiles(next)
    },
    extendTo: (index) => {
      setActive(index)
      const next = new Map<string, FileRecord>()
      for (let row = Math.min(anchor, index); row <= Math.max(anchor, index); row += 1) {
        const file = rowAt(row)
        if (file) next.set(file.id, file)
      }
      setFiles(next)
    },
    all: (every) => setFiles(new Map(every.map((file) => [file.id, file]))),
    clear: () => setFiles(new Map()),
  }
}
