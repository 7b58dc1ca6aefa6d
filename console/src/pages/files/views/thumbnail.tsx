import type { File as FileRecord } from '@atrium/client'
import { useEffect, useState } from 'react'
import { api } from '../../../api.ts'
import { classNames } from '../../../ui/class-names.ts'
import { KindIcon } from '../file-kind.tsx'
import { imageTypes, maxImageSourceBytes } from './image-types.ts'
import styles from './thumbnail.module.css'

// The server makes a few images at a time, and rejects some when many are requested at once.
const maxLoads = 4
let loads = 0
const waiting = new Set<() => void>()

const next = (): void => {
  for (const start of waiting) {
    if (loads >= maxLoads) return
    waiting.delete(start)
    loads += 1
    start()
  }
}

/** Waits for one of the slots. Returns the function that gives it back, or leaves the queue. */
const whenFree = (start: () => void): (() => void) => {
  let isDone = false
  let isRunning = false
  const begin = (): void => {
    isRunning = true
    start()
  }
  waiting.add(begin)
  next()
  return () => {
    if (isDone) return
    isDone = true
    waiting.delete(begin)
    if (isRunning) loads -= 1
    next()
  }
}

interface ThumbnailProps {
  file: FileRecord
  /** Fills its box, for tiles. */
  isLarge?: boolean
}

type State = 'waiting' | 'loading' | 'shown' | 'failed'

const Image = ({ file, isLarge }: ThumbnailProps) => {
  const [state, setState] = useState<State>('waiting')
  const isOpen = state === 'waiting' || state === 'loading'
  useEffect(() => (isOpen ? whenFree(() => setState('loading')) : undefined), [isOpen])
  return (
    <>
      {state !== 'shown' && <KindIcon file={file} />}
      {(state === 'loading' || state === 'shown') && (
        <img
          src={api.url(
            `/files/${file.id}/image`,
            isLarge === true ? { width: 256 } : { width: 64, height: 64, fit: 'cover' },
          )}
          alt=""
          draggable={false}
          data-shown={state === 'shown'}
          onLoad={() => setState('shown')}
          onError={() => setState('failed')}
        />
      )}
    </>
  )
}

/** A small picture of a picture or of the first page of a PDF, or the icon of the type, in a box of the same size. */
export const Thumbnail = ({ file, isLarge = false }: ThumbnailProps) => {
  const { mimeType, status, size } = file
  const isPicture = imageTypes.has(mimeType ?? '') && status === 'ready' && size <= maxImageSourceBytes
  return (
    <span className={classNames(styles['thumbnail'], isLarge && styles['large'])}>
      {isPicture ? <Image key={file.contentHash} file={file} isLarge={isLarge} /> : <KindIcon file={file} />}
    </span>
  )
}
