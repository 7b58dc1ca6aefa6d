// Reads long texts in a worker, one after another. Some texts take minutes, so each has a limit of time.
import type { Lexed } from './lex.ts'
import type { WorkerMessage } from './lex-worker.ts'
// oxlint-disable-next-line import/default -- Vite exports the URL of the built script
import workerUrl from './lex-worker.ts?worker&url'

const maxLexMs = 2_000
const maxStartMs = 15_000
/** After a worker could not be loaded, texts are shown as they are for this time. */
const retryStartMs = 30_000

const maxRemembered = 300
/** Of the remembered texts and results, in characters. */
const maxRememberedLength = 4_000_000

const remembered = new Map<string, Lexed>()
let rememberedLength = 0

const lengthOf = (text: string, lexed: Lexed): number =>
  lexed === 'plain' ? text.length : lexed.reduce((sum, block) => sum + block.length, text.length)

const forget = (text: string): void => {
  const lexed = remembered.get(text)
  if (lexed === undefined) return
  remembered.delete(text)
  rememberedLength -= lengthOf(text, lexed)
}

const remember = (text: string, lexed: Lexed): void => {
  forget(text)
  remembered.set(text, lexed)
  rememberedLength += lengthOf(text, lexed)
  for (const oldest of remembered.keys()) {
    if (remembered.size <= maxRemembered && rememberedLength <= maxRememberedLength) break
    forget(oldest)
  }
}

/** The result for a text that was read before. */
export const rememberedOf = (text: string): Lexed | undefined => remembered.get(text)

/** The used part of the Trusted Types API, which TypeScript's DOM types do not include yet. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

const checkUrl = (url: string): string => {
  if (url !== workerUrl) throw new TypeError('This is not the script of the worker.')
  return url
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined

/** The content security policy allows one Trusted Types policy of this name per page. */
const trustedUrl = (): string => {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  policy ??= trustedTypes?.createPolicy('atrium-worker', { createScriptURL: checkUrl })
  return policy ? policy.createScriptURL(workerUrl) : checkUrl(workerUrl)
}

interface Job {
  text: string
  onLexed: (result: { text: string; lexed: Lexed }) => void
}

/** By component, longest waiting first. */
const waiting = new Map<object, Job>()
let current: Job | undefined
let worker: Worker | undefined
let isReady = false
let timer: ReturnType<typeof setTimeout> | undefined
let startAgainAt = 0

const stopWorker = (): void => {
  worker?.terminate()
  worker = undefined
  isReady = false
}

const finish = (lexed: Lexed): void => {
  clearTimeout(timer)
  const job = current
  current = undefined
  job?.onLexed({ text: job.text, lexed })
  next()
}

const onTooLong = (): void => {
  stopWorker()
  if (current) remember(current.text, 'plain')
  finish('plain')
}

const onNoWorker = (): void => {
  stopWorker()
  startAgainAt = Date.now() + retryStartMs
  finish('plain')
}

const sendCurrent = (): void => {
  if (!current || !worker) return
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only messages to windows have one
  worker.postMessage(current.text)
  timer = setTimeout(onTooLong, maxLexMs)
}

const onMessage = ({ data, target }: MessageEvent<WorkerMessage>): void => {
  if (target !== worker) return
  if (data === 'ready') {
    clearTimeout(timer)
    isReady = true
    sendCurrent()
    return
  }
  if (current) remember(current.text, data.lexed)
  finish(data.lexed)
}

const startWorker = (): void => {
  try {
    worker = new Worker(trustedUrl(), { type: 'module' })
  } catch {
    return onNoWorker()
  }
  worker.addEventListener('message', onMessage)
  worker.addEventListener('error', () => (isReady ? onTooLong() : onNoWorker()))
  timer = setTimeout(onNoWorker, maxStartMs)
}

const next = (): void => {
  while (!current) {
    const [first] = waiting
    if (!first) return
    const [owner, job] = first
    waiting.delete(owner)
    const known = Date.now() < startAgainAt ? 'plain' : remembered.get(job.text)
    if (known === undefined) current = job
    else job.onLexed({ text: job.text, lexed: known })
  }
  if (isReady) sendCurrent()
  else startWorker()
}

/** Reads a text after those that wait. It replaces the text of the same owner that still waits, and takes its place. */
export const lexLater = (owner: object, job: Job): void => {
  waiting.set(owner, job)
  if (!current) next()
}

/** Removes the waiting text of an owner. */
export const cancelLex = (owner: object): void => void waiting.delete(owner)
