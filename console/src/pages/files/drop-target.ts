import { useState } from 'react'
import type { DragEvent } from 'react'
import { upload } from '../../uploads.ts'
import { toast } from '../../ui/toast.tsx'
import { moveFiles } from './changes.ts'
import { carriedRows, filesOfDrop, isFileDrag, isRowDrag } from './drag-data.ts'

/** Drops files from the desktop, or moves rows, into a folder; `null` is the root. */
export const dropInto = (data: DataTransfer, folderId: string | null): void => {
  if (isRowDrag(data)) void moveFiles(carriedRows(data), folderId)
  else if (isFileDrag(data)) {
    filesOfDrop(data)
      .then((chosen) => upload(chosen, folderId))
      .catch((error: unknown) => toast.failed('Not everything could be uploaded', error))
  }
}

/** Makes an element a folder to drop into. */
export const useDropTarget = (folderId: string | null) => {
  // The pointer enters children before it leaves their parent.
  const [depth, setDepth] = useState(0)
  const takes = ({ dataTransfer }: DragEvent): boolean => isRowDrag(dataTransfer) || isFileDrag(dataTransfer)
  return {
    over: depth > 0,
    props: {
      onDragEnter: (event: DragEvent) => {
        if (!takes(event)) return
        event.stopPropagation()
        setDepth((now) => now + 1)
      },
      onDragLeave: (event: DragEvent) => {
        if (!takes(event)) return
        event.stopPropagation()
        setDepth((now) => Math.max(0, now - 1))
      },
      onDragOver: (event: DragEvent) => {
        if (!takes(event)) return
        event.preventDefault()
        event.stopPropagation()
        event.dataTransfer.dropEffect = isRowDrag(event.dataTransfer) ? 'move' : 'copy'
      },
      onDrop: (event: DragEvent) => {
        if (!takes(event)) return
        event.preventDefault()
        event.stopPropagation()
        setDepth(0)
        dropInto(event.dataTransfer, folderId)
      },
    },
  }
}
