import type { Readable } from 'node:stream'
import { badRequest } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Log } from '../../platform/process/log.ts'
import { runChild } from './child-process.ts'
import type { ChildLimits } from './child-process.ts'
import { formatOf } from './formats/formats.ts'
import type { Format } from './formats/formats.ts'
import { Refusal, limits } from './payload.ts'
import type { PreviewPayload } from './payload.ts'
import { createQueue } from './queue.ts'
import { cutToBytes, previewText, textPrefixBytes } from './formats/text.ts'

/** A file to be previewed. `open` is called once at most, when its turn comes. */
export interface PreviewInput {
  mimeType: string
  name: string
  sizeBytes: number
  /** For whom it is read: orgs that wait take turns. */
  orgId?: string
  /** The bytes from their beginning; no more than `maxBytes` of them are read. */
  open(maxBytes?: number): Promise<Readable>
}

export interface Previewer {
  /**
   * What a person sees of the file. BAD_REQUEST when its kind has no preview, when it is over 25 MB, damaged,
   * encrypted, or costs too much to read; SERVICE_UNAVAILABLE when too many wait, or the store fails. Rejects with the
   * signal's reason when that comes first.
   */
  preview(input: PreviewInput, signal?: AbortSignal): Promise<PreviewPayload>
  /** The same as plain text, for a model: up to 512 KB; sheets as lines with tabs. */
  text(input: PreviewInput, signal?: AbortSignal): Promise<{ text: string; truncated: boolean }>
  /** Ends what runs and refuses what waits. */
  close(): Promise<void>
}

export interface PreviewerOptions extends Partial<ChildLimits> {
  /** Files that are read at once, each in a process of its own that ends with it. */
  concurrency?: number
  /** How many files of one org wait for that. */
  maxWaiting?: number
  log?: Pick<Log, 'debug'>
}

const cannotPreview = (refusal: Refusal): ApiError =>
  badRequest(`This file cannot be previewed: ${refusal.message}.`, { cause: refusal })

/** The format in which a file of at most 25 MB is read; throws BAD_REQUEST for any other. */
export const previewFormatOf = ({ mimeType, name, sizeBytes }: Omit<PreviewInput, 'open'>): Format => {
  const format = formatOf(mimeType, name)
  if (format === undefined) throw badRequest(`Files of type ${mimeType} cannot be previewed.`)
  if (sizeBytes > limits.sourceBytes) throw badRequest('Files over 25 MB cannot be previewed.')
  return format
}

// Text is decoded here, from its first megabyte: a process of its own would cost a hundred times as much.
const readText = async (input: PreviewInput, signal?: AbortSignal): Promise<PreviewPayload> => {
  signal?.throwIfAborted()
  const source = await input.open(textPrefixBytes)
  const giveUp = (): void => void source.destroy(signal?.reason as Error)
  signal?.addEventListener('abort', giveUp)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size >= textPrefixBytes) break
    }
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
  return previewText(Buffer.concat(chunks).subarray(0, textPrefixBytes), input.sizeBytes <= textPrefixBytes)
}

/** A preview as plain text. */
export const textOf = ({ text, sheets, truncated }: PreviewPayload): { text: string; truncated: boolean } => {
  if (!sheets) return { text: text ?? '', truncated }
  const tables = sheets.map(({ name, rows }) => {
    const lines = rows.map((row) => row.map((cell) => cell.replaceAll(/[\t\r\n]+/g, ' ')).join('\t'))
    return (sheets.length > 1 ? [`# ${name}`, ...lines] : lines).join('\n')
  })
  const whole = tables.join('\n\n')
  const cut = cutToBytes(whole, limits.textBytes)
  return { text: cut, truncated: truncated || cut.length < whole.length }
}

/** Reads files in processes of their own, started when they are needed: at rest it costs nothing. */
export const createPreviewer = (options: PreviewerOptions = {}): Previewer => {
  const { concurrency = 2, maxWaiting = 20, timeoutMs = 10_000, maxRssBytes = 224 * 1_048_576, log } = options
  // Requests come first.
  const { niceness = 10 } = options
  const queue = createQueue(concurrency, maxWaiting)
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()

  const readInChild = async (input: PreviewInput, format: Exclude<Format, 'text'>, signal?: AbortSignal) => {
    const source = await input.open()
    const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
    const onRefusal = (detail: string): void => log?.debug({ format, detail }, 'file not previewed')
    const work = runChild({ format, source, signal: either, timeoutMs, maxRssBytes, niceness, onRefusal })
    running.add(work)
    try {
      return await work
    } finally {
      running.delete(work)
    }
  }
  const preview: Previewer['preview'] = async (input, signal) => {
    const format = previewFormatOf(input)
    try {
      if (format === 'text') return await readText(input, signal)
      return await queue.run(() => readInChild(input, format, signal), { group: input.orgId, signal })
    } catch (error) {
      throw error instanceof Refusal ? cannotPreview(error) : error
    }
  }
  return {
    preview,
    text: async (input, signal) => textOf(await preview(input, signal)),
    close: async () => {
      queue.close()
      closing.abort(new Error('the server is stopping'))
      await Promise.allSettled(running)
    },
  }
}
