import type { Readable } from 'node:stream'
import { badRequest } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { WorkOf } from '../../platform/process/fair-queue.ts'
import type { Log } from '../../platform/process/log.ts'
import { runChild } from './child-process.ts'
import type { ChildLimits } from './child-process.ts'
import { formatOf } from './formats/formats.ts'
import type { Format } from './formats/formats.ts'
import { PreviewError, limits } from './payload.ts'
import type { PreviewPayload } from './payload.ts'
import { createImageQueue, createPictureQueue, createQueue } from './queue.ts'
import type { Queue } from './queue.ts'
import type { ImageSpec } from './pictures/image-spec.ts'
import { runImage, runLogo, runPicture } from './pictures/run-picture.ts'
import type { Image, LogoSizes, Picture, PictureRun } from './pictures/run-picture.ts'
import { cutToBytes, previewText, textPrefixBytes } from './formats/text.ts'

/** A file to preview. `open` is called at most once, when the file leaves the queue. */
export interface PreviewInput {
  mimeType: string
  name: string
  sizeBytes: number
  /** The queue is fair between orgs, and between the people of an org. */
  orgId?: string
  userId?: string
  /** The address of a visitor of a share. The visitors of an org wait apart from its people, and take turns by address. */
  visitor?: string | undefined
  /** The bytes from the start; at most `maxBytes` of them are read. */
  open(maxBytes?: number): Promise<Readable>
}

type QueuedInput = Pick<PreviewInput, 'orgId' | 'userId' | 'visitor' | 'open'>

export interface Previewer {
  /**
   * The preview of a file. BAD_REQUEST when the type has no preview, or the file is over 25 MB, damaged, encrypted or
   * exceeds a limit; SERVICE_UNAVAILABLE when the queue is full or the object store fails. Rejects with the signal's
   * reason when it is aborted.
   */
  preview(input: PreviewInput, signal?: AbortSignal): Promise<PreviewPayload>
  /** The same as plain text for a model, up to 512 KB; sheets as tab-separated lines. */
  text(input: PreviewInput, signal?: AbortSignal): Promise<{ text: string; truncated: boolean }>
  /** A picture in a size that models accept. Throws like `preview`. */
  picture(input: PreviewInput, signal?: AbortSignal): Promise<Picture>
  /** A picture, or the first page of a PDF, in a size and format of choice. Throws like `preview`. */
  image(input: PreviewInput, spec: ImageSpec, signal?: AbortSignal): Promise<Image>
  /** A PNG, JPEG or WebP picture in the sizes of a logo. Throws like `preview`. */
  logo(input: QueuedInput, signal?: AbortSignal): Promise<LogoSizes>
  /** Ends running previews and rejects waiting ones. */
  close(): Promise<void>
}

export interface PreviewerOptions extends Partial<ChildLimits> {
  /** Files that are read at the same time, each in its own process. */
  concurrency?: number
  /** Those of one org: an org with many slow files leaves a place to others. */
  concurrencyOfOrg?: number
  /** How many files of one org may wait. */
  maxWaiting?: number
  log?: Pick<Log, 'debug'>
}

const cannotRead = (rejection: PreviewError): ApiError =>
  badRequest(`The picture could not be read: ${rejection.message}.`, { cause: rejection })

/** Decoding the largest accepted JPEG or PNG with interlacing needs up to 350 MB. */
const pictureRssBytes = 384 * 1_048_576

const cannotPreview = (rejection: PreviewError): ApiError =>
  badRequest(`This file cannot be previewed: ${rejection.message}.`, { cause: rejection })

const queueOf = ({ orgId, userId, visitor }: QueuedInput): Pick<WorkOf, 'group' | 'member'> =>
  visitor === undefined ? { group: orgId, member: userId } : { group: `visitors of ${orgId}`, member: visitor }

const pdfType = 'application/pdf'

/** The format of a file. Throws BAD_REQUEST for types without a preview and for files over 25 MB. */
export const previewFormatOf = ({ mimeType, name, sizeBytes }: Omit<PreviewInput, 'open'>): Format => {
  const format = formatOf(mimeType, name)
  if (format === undefined) throw badRequest(`Files of type ${mimeType} cannot be previewed.`)
  if (sizeBytes > limits.sourceBytes) throw badRequest('Files over 25 MB cannot be previewed.')
  return format
}

// Text is decoded in this process, from the first megabyte: a separate process would be a hundred times slower.
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

/** Reads files in separate processes that are started on demand, so that an idle server uses no memory for them. */
export const createPreviewer = (options: PreviewerOptions = {}): Previewer => {
  const {
    concurrency = 3,
    concurrencyOfOrg = 2,
    maxWaiting = 20,
    timeoutMs = 10_000,
    maxRssBytes = 224 * 1_048_576,
    log,
  } = options
  // Requests have priority.
  const { niceness = 10 } = options
  const queue = createQueue({ running: concurrency, runningPerOrg: concurrencyOfOrg, maxWaitingPerOrg: maxWaiting })
  const pictures = createPictureQueue(maxWaiting)
  // Pages ask for many images at once, so that the machine is busy: the limit of CPU time ends a process sooner.
  const imageTimeoutMs = 3 * timeoutMs
  const images = createImageQueue({ slowMs: timeoutMs })
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()

  const inChild = async <T>(
    input: Pick<PreviewInput, 'open'>,
    signal: AbortSignal | undefined,
    start: (source: Readable, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const source = await input.open()
    const work = start(source, signal ? AbortSignal.any([signal, closing.signal]) : closing.signal)
    running.add(work)
    try {
      return await work
    } finally {
      running.delete(work)
    }
  }
  const readInChild = (input: PreviewInput, format: Exclude<Format, 'text'>, signal?: AbortSignal) =>
    inChild(input, signal, (source, combined) => {
      const onFailure = (detail: string): void => log?.debug({ format, detail }, 'file not previewed')
      return runChild({ format, source, signal: combined, timeoutMs, maxRssBytes, niceness, onFailure })
    })
  const pictureBy = async <T>(
    places: Queue,
    run: (picture: PictureRun) => Promise<T>,
    input: QueuedInput & { mimeType?: string },
    signal?: AbortSignal,
  ): Promise<T> => {
    const onFailure = (detail: string): void => log?.debug({ detail }, 'picture not read')
    const maxBytes = options.maxRssBytes ?? pictureRssBytes
    const limits = { timeoutMs, maxRssBytes: maxBytes, niceness, onFailure }
    const read = () => inChild(input, signal, (source, combined) => run({ source, signal: combined, ...limits }))
    try {
      return await places.run(read, { ...queueOf(input), signal })
    } catch (error) {
      if (!(error instanceof PreviewError)) throw error
      throw input.mimeType === pdfType ? cannotPreview(error) : cannotRead(error)
    }
  }
  const preview: Previewer['preview'] = async (input, signal) => {
    const format = previewFormatOf(input)
    try {
      if (format === 'text') return await readText(input, signal)
      return await queue.run(() => readInChild(input, format, signal), { ...queueOf(input), signal })
    } catch (error) {
      throw error instanceof PreviewError ? cannotPreview(error) : error
    }
  }
  return {
    preview,
    picture: (input, signal) => pictureBy(pictures, runPicture, input, signal),
    image: (input, spec, signal) => {
      const kind = input.mimeType === pdfType ? 'pdf' : 'image'
      const run = (given: PictureRun): Promise<Image> => runImage(kind, spec, { ...given, timeoutMs: imageTimeoutMs })
      return pictureBy(images, run, input, signal)
    },
    logo: (input, signal) => pictureBy(pictures, runLogo, input, signal),
    text: async (input, signal) => textOf(await preview(input, signal)),
    close: async () => {
      queue.close()
      pictures.close()
      images.close()
      closing.abort(new Error('the server is stopping'))
      await Promise.allSettled(running)
    },
  }
}
