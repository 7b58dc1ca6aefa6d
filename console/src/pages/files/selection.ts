import type { File as FileRecord } from '@atrium/client'
import { useState } from 'react'

export interface Selection {
  files: ReadonlyMap<string, FileRecord>
  /** Index of the row with the keyboard focus. */
  active: number
  setActive: (index: number) => void
  only: (index: number, file: FileRecord) => void
  toggle: (index: number, file: FileRecord) => void
  /** Selects the range from the anchor (the last single selection) to this row. */
  extendTo: (index: number) => void
  all: (files: readonly FileRecord[]) => void
  clear: () => void
}

/** The selected rows of a listing. A change of `of`, the key of the listing, clears the selection. */
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
