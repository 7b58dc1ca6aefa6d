// Messages that were written but not sent. They outlive navigation and reloads: each is kept in memory and in
// localStorage until it is sent, under the ID of its author, so that other people who use this browser do not see it.
import { useSyncExternalStore } from 'react'

export interface Attachment {
  key: string
  name: string
  state: 'sending' | 'ready' | 'failed'
  fileId?: string
  error?: string
}

export interface MessageDraft {
  text: string
  attachments: readonly Attachment[]
}

/** The stored form: uploads that are complete, without those that would have to start again. */
interface Stored {
  text: string
  files: { fileId: string; name: string }[]
  /** Unix time in milliseconds. */
  changedAt: number
}

export const emptyDraft: MessageDraft = { text: '', attachments: [] }

const prefix = 'atrium.message-draft.'
/** The browser stores about 5 million characters for the whole origin. Beyond these limits the oldest are dropped. */
const maxStoredDrafts = 50
const maxStoredLength = 1_000_000
const storeAfterMs = 300

const drafts = new Map<string, MessageDraft>()
const timers = new Map<string, ReturnType<typeof setTimeout>>()
const listeners = new Set<() => void>()

const load = (key: string): MessageDraft => {
  try {
    const text = localStorage.getItem(prefix + key)
    if (text === null) return emptyDraft
    const stored = JSON.parse(text) as Stored
    return {
      text: stored.text,
      attachments: stored.files.map(({ fileId, name }) => ({ key: fileId, fileId, name, state: 'ready' })),
    }
  } catch {
    return emptyDraft
  }
}

const storedKeys = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith(prefix))

const removeOldest = (): void => {
  const keys = storedKeys()
  const lengthOf = (key: string): number => localStorage.getItem(key)?.length ?? 0
  let length = keys.reduce((sum, key) => sum + lengthOf(key), 0)
  if (keys.length <= maxStoredDrafts && length <= maxStoredLength) return
  const ageOf = (key: string): number =>
    (JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Stored>).changedAt ?? 0
  const oldestFirst = keys.map((key) => ({ key, changedAt: ageOf(key) })).toSorted((a, b) => a.changedAt - b.changedAt)
  for (const [index, { key }] of oldestFirst.entries()) {
    if (keys.length - index <= maxStoredDrafts && length <= maxStoredLength) return
    length -= lengthOf(key)
    localStorage.removeItem(key)
  }
}

const store = (key: string): void => {
  clearTimeout(timers.get(key))
  timers.delete(key)
  const { text, attachments } = drafts.get(key) ?? emptyDraft
  const files = attachments.flatMap(({ fileId, name }) => (fileId === undefined ? [] : [{ fileId, name }]))
  try {
    if (text.trim() === '' && files.length === 0) localStorage.removeItem(prefix + key)
    else {
      localStorage.setItem(prefix + key, JSON.stringify({ text, files, changedAt: Date.now() } satisfies Stored))
      removeOldest()
    }
  } catch {
    // Without storage the draft lasts until the tab is reloaded.
  }
}

const set = (key: string, draft: MessageDraft): void => {
  drafts.set(key, draft)
  for (const listener of listeners) listener()
}

/** The draft of a conversation; empty when there is none. */
export const messageDraft = (key: string): MessageDraft => {
  const known = drafts.get(key)
  if (known) return known
  const loaded = load(key)
  drafts.set(key, loaded)
  return loaded
}

export const changeMessageDraft = (key: string, change: (now: MessageDraft) => MessageDraft): void => {
  set(key, change(messageDraft(key)))
  clearTimeout(timers.get(key))
  timers.set(
    key,
    setTimeout(() => store(key), storeAfterMs),
  )
}

/**
 * Empties the draft while its message is sent. The stored copy is removed only when `send` is done, and the draft returns
 * when it fails, before what was written in the meantime.
 */
export const sendMessageDraft = async (key: string, send: (draft: MessageDraft) => Promise<void>): Promise<void> => {
  const draft = messageDraft(key)
  // What was typed just now. Later, a pending timer would store the empty field in its place.
  store(key)
  set(key, emptyDraft)
  try {
    await send(draft)
  } catch (error) {
    changeMessageDraft(key, (now) => ({
      text: [draft.text, now.text].filter((text) => text.trim() !== '').join('\n\n'),
      attachments: [...draft.attachments, ...now.attachments],
    }))
    throw error
  }
  store(key)
}

export const useMessageDraft = (key: string): MessageDraft =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => messageDraft(key),
  )

/** Forgets what this tab holds. Stored drafts return when their author signs in again. */
export const unloadMessageDrafts = (): void => {
  for (const timer of timers.values()) clearTimeout(timer)
  timers.clear()
  drafts.clear()
}

/** Deletes the stored drafts, of everybody or of everybody else than this person. */
export const deleteMessageDrafts = (exceptOf?: string): void => {
  if (exceptOf === undefined) unloadMessageDrafts()
  try {
    const kept = exceptOf === undefined ? undefined : `${prefix}${exceptOf}.`
    for (const key of storedKeys()) if (kept === undefined || !key.startsWith(kept)) localStorage.removeItem(key)
  } catch {
    // Without storage there is nothing to delete.
  }
}

window.addEventListener('pagehide', () => {
  for (const key of timers.keys()) store(key)
})
