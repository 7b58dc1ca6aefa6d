import { AtriumError, uniqueKey } from '@atrium/client'
import { useState } from 'react'
import { api, refresh } from '../../api.ts'

export interface Attachment {
  key: string
  name: string
  state: 'sending' | 'ready' | 'failed'
  fileId?: string
  error?: string
}

export interface Attachments {
  items: readonly Attachment[]
  add: (files: readonly File[]) => void
  remove: (key: string) => void
  clear: () => void
  restore: (items: readonly Attachment[]) => void
  readyIds: () => string[]
}

const maxAttachments = 20

const send = async (file: File, key: string): Promise<string> => {
  const body = new FormData()
  body.append('file', new Blob([file], { type: file.type || 'application/octet-stream' }), file.name)
  const { file: stored } = await api.call('POST /files', { body, idempotencyKey: key })
  return stored.id
}

/** The attachments of a message. They are uploaded when they are added, so that sending does not wait. */
export const useAttachments = (): Attachments => {
  const [items, setItems] = useState<readonly Attachment[]>([])
  const change = (key: string, patch: Partial<Attachment>): void =>
    setItems((all) => all.map((one) => (one.key === key ? { ...one, ...patch } : one)))
  const add = (files: readonly File[]): void => {
    for (const file of files.slice(0, maxAttachments - items.length)) {
      const key = uniqueKey()
      setItems((all) => [...all, { key, name: file.name, state: 'sending' }])
      send(file, key).then(
        (fileId) => {
          change(key, { state: 'ready', fileId })
          void refresh('GET /files')
        },
        (error: unknown) => {
          const requestId = error instanceof AtriumError && error.requestId !== undefined ? ` (${error.requestId})` : ''
          change(key, { state: 'failed', error: `${error instanceof Error ? error.message : ''}${requestId}` })
        },
      )
    }
  }
  return {
    items,
    add,
    remove: (key) => setItems((all) => all.filter((one) => one.key !== key)),
    clear: () => setItems([]),
    restore: setItems,
    readyIds: () => items.flatMap(({ fileId }) => (fileId === undefined ? [] : [fileId])),
  }
}
