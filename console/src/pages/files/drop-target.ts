import { t } from '@lingui/core/macro'
import { useState } from 'react'
import type { DragEvent } from 'react'
import { upload } from '../../uploads.ts'
import { toast } from '../../ui/toast.tsx'
import { moveFiles } from './changes.ts'
import { readDraggedRows, filesOfDrop, isFileDrag, isRowDrag } from './drag-data.ts'
import styles from './drop-target.module.css'

/** Drops files from the desktop, or moves rows, into a folder; `null` is the root. */
export const dropInto = (data: DataTransfer, folderId: string | null): void => {
  if (isRowDrag(data)) void moveFiles(readDraggedRows(data), folderId)
  else if (isFileDrag(data)) {
    upload(filesOfDrop(data), folderId).catch((error: unknown) =>
      toast.failed(t`Some files could not be uploaded`, error),
    )
  }
}

/** Drag-and-drop props, hover state and its class name for an element that represents a folder. */
export const useDropTarget = (folderId: string | null) => {
  // `dragenter` of a child fires before `dragleave` of its parent, so a counter is needed.
  const [depth, setDepth] = useState(0)
  const isAccepted = ({ dataTransfer }: DragEvent): boolean => isRowDrag(dataTransfer) || isFileDrag(dataTransfer)
  return {
    over: depth > 0,
    className: depth > 0 ? styles['over'] : undefined,
    props: {
      onDragEnter: (event: DragEvent) => {
        if (!isAccepted(event)) return
        event.stopPropagation()
        setDepth((now) => now + 1)
      },
      onDragLeave: (event: DragEvent) => {
        if (!isAccepted(event)) return
        event.stopPropagation()
        setDepth((now) => Math.max(0, now - 1))
      },
      onDragOver: (event: DragEvent) => {
        if (!isAccepted(event)) return
        event.preventDefault()
        event.stopPropagation()
        event.dataTransfer.dropEffect = isRowDrag(event.dataTransfer) ? 'move' : 'copy'
      },
      onDrop: (event: DragEvent) => {
        if (!isAccepted(event)) return
        event.preventDefault()
        event.stopPropagation()
        setDepth(0)
        dropInto(event.dataTransfer, folderId)
      },
    },
  }
}
