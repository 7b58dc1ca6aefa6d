import { t } from '@lingui/core/macro'
import { uniqueKey } from '@atrium/client'
import { api, refresh } from '../../api.ts'
import { changeMessageDraft, useMessageDraft } from '../../message-drafts.ts'
import type { Attachment } from '../../message-drafts.ts'
import { errorMessageOf, requestIdOf } from '../../ui/error-message.ts'
import { toast } from '../../ui/toast.tsx'

export interface Attachments {
  items: readonly Attachment[]
  add: (files: readonly File[]) => void
  remove: (key: string) => void
}

const maxAttachments = 20

const send = async (file: File, key: string): Promise<string> => {
  const body = new FormData()
  body.append('file', new Blob([file], { type: file.type || 'application/octet-stream' }), file.name)
  const { file: stored } = await api.call('POST /files', { body, idempotencyKey: key })
  return stored.id
}

export const readyIds = (items: readonly Attachment[]): string[] =>
  items.flatMap(({ fileId }) => (fileId === undefined ? [] : [fileId]))

/** The attachments of a draft. They are uploaded when they are added, so that sending does not wait. */
export const useAttachments = (draftKey: string): Attachments => {
  const { attachments: items } = useMessageDraft(draftKey)
  const change = (next: (all: readonly Attachment[]) => readonly Attachment[]): void =>
    changeMessageDraft(draftKey, (now) => ({ ...now, attachments: next(now.attachments) }))
  const patch = (key: string, fields: Partial<Attachment>): void =>
    change((all) => all.map((one) => (one.key === key ? { ...one, ...fields } : one)))
  const add = (files: readonly File[]): void => {
    const free = Math.max(0, maxAttachments - items.length)
    if (files.length > free)
      toast.failed(t`Some files were not attached`, new Error(t`A message can have at most ${maxAttachments} files.`))
    for (const file of files.slice(0, free)) {
      const key = uniqueKey()
      change((all) => [...all, { key, name: file.name, state: 'sending' }])
      send(file, key).then(
        (fileId) => {
          patch(key, { state: 'ready', fileId })
          void refresh('GET /files')
        },
        (error: unknown) => {
          const requestId = requestIdOf(error)
          const note = requestId === undefined ? '' : ` (request ${requestId})`
          patch(key, { state: 'failed', error: errorMessageOf(error) + note })
        },
      )
    }
  }
  return { items, add, remove: (key) => change((all) => all.filter((one) => one.key !== key)) }
}
