import type { File as FileRecord } from '@atrium/client'
import { useState } from 'react'
import { pageOfRow } from './rows.ts'
import type { FileRows } from './rows.ts'

/** A row that is remembered. The index is used only while its file is not loaded, or is not in the listing any more. */
interface Place {
  id: string | undefined
  index: number
}

/** What is selected, by ID: names and positions change while rows are selected. */
export interface Marks {
  /** The page on which each selected file was. */
  pages: ReadonlyMap<string, number>
  /** The row with the keyboard focus. */
  active: Place
  /** The last row that was selected alone: the start of a range. */
  anchor: Place
}

const nothing: Marks = {
  pages: new Map(),
  active: { id: undefined, index: 0 },
  anchor: { id: undefined, index: 0 },
}

/** The marks of a listing. A change of `of`, the key of the listing, clears them. */
export const useMarks = (of: string): [Marks, (patch: Partial<Marks>) => void] => {
  const [known, setKnown] = useState({ of, marks: nothing })
  const current = known.of === of ? known : { of, marks: nothing }
  if (current !== known) setKnown(current)
  return [current.marks, (patch) => setKnown((now) => ({ ...now, marks: { ...now.marks, ...patch } }))]
}

export interface Selection {
  /** The selected files as they are now. Files that left the listing are not selected. */
  files: ReadonlyMap<string, FileRecord>
  /** Index of the row with the keyboard focus. */
  active: number
  setActive: (index: number) => void
  only: (index: number, file: FileRecord) => void
  toggle: (index: number, file: FileRecord) => void
  /** Selects the range from the anchor (the last single selection) to this row. */
  extendTo: (index: number) => void
  /** Selects the first rows of the listing. */
  all: (files: readonly FileRecord[]) => void
  clear: () => void
}

const filesOf = ({ pages }: Marks, rows: FileRows): ReadonlyMap<string, FileRecord> =>
  new Map(
    [...pages.keys()].flatMap((id) => {
      const found = rows.find(id)
      return found ? [[id, found.file] as const] : []
    }),
  )

/** The selected rows of a listing, looked up by the marks. */
export const useSelection = (marks: Marks, change: (patch: Partial<Marks>) => void, rows: FileRows): Selection => {
  const indexOf = ({ id, index }: Place): number => {
    const found = id === undefined ? undefined : rows.find(id)
    return found?.index ?? Math.max(0, Math.min(index, (rows.total ?? 1) - 1))
  }
  const placeOf = (index: number): Place => ({ id: rows.rowAt(index)?.id, index })
  const at = (index: number): Pick<Marks, 'active' | 'anchor'> => ({ active: placeOf(index), anchor: placeOf(index) })
  return {
    files: filesOf(marks, rows),
    active: indexOf(marks.active),
    setActive: (index) => change({ active: placeOf(index) }),
    only: (index, { id }) => change({ ...at(index), pages: new Map([[id, pageOfRow(index)]]) }),
    toggle: (index, { id }) => {
      const pages = new Map(marks.pages)
      if (!pages.delete(id)) pages.set(id, pageOfRow(index))
      change({ ...at(index), pages })
    },
    extendTo: (index) => {
      const start = indexOf(marks.anchor)
      const pages = new Map<string, number>()
      for (let row = Math.min(start, index); row <= Math.max(start, index); row += 1) {
        const file = rows.rowAt(row)
        if (file) pages.set(file.id, pageOfRow(row))
      }
      change({ active: placeOf(index), pages })
    },
    all: (every) => change({ pages: new Map(every.map(({ id }, index) => [id, pageOfRow(index)])) }),
    clear: () => change({ pages: new Map() }),
  }
}
