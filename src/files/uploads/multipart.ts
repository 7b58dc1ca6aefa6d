import type { Multipart, MultipartFile, MultipartValue } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { checkMimeType, typeOfName } from './mime-types.ts'
import { checkName } from '../tree/names.ts'

export interface UploadForm<File> {
  file: File
  parentId: string | undefined
  projectId: string | undefined
  /** The text parts of other names. */
  others: ReadonlyMap<string, string>
}

export interface FilePart {
  name: string
  mimeType: string
  bytes: AsyncIterable<Buffer>
}

// A form needs three parts; client frameworks may add others.
const limits = { parts: 32, fields: 31, fieldSize: 4_096, headerPairs: 32, fileSize: Number.POSITIVE_INFINITY }

// Browsers and curl escape the three characters that a quoted filename cannot contain.
const escapes: Record<string, string> = { '%22': '"', '%0D': '\r', '%0A': '\n' }
const fileNameOf = (part: MultipartFile): string =>
  (part.filename ?? '').replaceAll(/%22|%0D|%0A/gi, (escape) => escapes[escape.toUpperCase()] ?? escape)

const idOf = (part: MultipartValue): string | undefined => {
  // A part of type application/json is parsed already.
  if (part.value === null) return undefined
  if (typeof part.value !== 'string' || !isUuid(part.value)) throw badRequest(`${part.fieldname} must be a UUID`)
  return part.value.toLowerCase()
}

const typeOf = ({ mimetype }: MultipartFile, name: string, isGuessed: boolean): string => {
  const type = checkMimeType(mimetype)
  if (!isGuessed || type !== 'application/octet-stream') return type
  return typeOfName(name)
}

/** Messages for well-formed forms that the parser rejects. */
const rejections: Record<string, string> = {
  FST_PROTO_VIOLATION: 'The form must not have a part with a reserved name such as toString or constructor.',
  FST_INVALID_JSON_FIELD_ERROR: 'A part of type application/json must be valid JSON.',
  FST_PARTS_LIMIT: `A form must have at most ${limits.parts} parts.`,
  FST_FIELDS_LIMIT: `A form must have at most ${limits.parts} parts.`,
}

const formError = (cause: unknown) => {
  if (cause instanceof ApiError) return cause
  const { code = '' } = cause as { code?: string }
  return badRequest(rejections[code] ?? 'The form is malformed or incomplete.', { cause })
}

/**
 * Ends a form that is longer than any form with a file: the parser reads a field to its end, however long it is. The bytes
 * are counted where they arrive, because the length need not be declared.
 */
const limitForm = ({ raw }: FastifyRequest, most: number): void => {
  let seen = 0
  const count = (chunk: Buffer): void => {
    seen += chunk.length
    if (seen <= most) return
    raw.off('data', count)
    raw.emit('error', badRequest(`A form must have at most ${most} bytes.`))
  }
  // The parser begins to read in the same turn of the event loop, so no byte is lost.
  raw.on('data', count)
}

/** Converts the parser's errors, which it throws to the reader of a part or of the next part. */
const partsOf = async function* (request: FastifyRequest, maxBytes: number): AsyncGenerator<Multipart> {
  try {
    limitForm(request, maxBytes)
    yield* request.parts({ limits, preservePath: true })
  } catch (error) {
    throw formError(error)
  }
}

const bytesOf = (part: MultipartFile): AsyncIterable<Buffer> => ({
  [Symbol.asyncIterator]: () => {
    const bytes = part.file[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    const next = (): Promise<IteratorResult<Buffer>> =>
      bytes.next().catch((error: unknown) => {
        throw formError(error)
      })
    return { next, return: async () => (await bytes.return?.()) ?? { done: true, value: undefined } }
  },
})

/** The largest file, and all other parts with their headers. */
const maxFormBytes = 105_906_176

export interface ReadFormOptions {
  /** A file of undeclared type gets the type of its extension. */
  guessesType?: boolean
  /** The length of the whole form. */
  maxBytes?: number
}

/**
 * Reads a form with exactly one part `file`, and `parentId` and `projectId` before or after it. `receive` is called
 * with the file while it arrives and must read it to its end or throw. Throws BAD_REQUEST for a form that is incomplete,
 * too long, has no file, or repeats a part.
 */
export const readForm = async <File>(
  request: FastifyRequest,
  receive: (part: FilePart) => Promise<File>,
  { guessesType = false, maxBytes = maxFormBytes }: ReadFormOptions = {},
): Promise<UploadForm<File>> => {
  const ids = new Map<string, string | undefined>()
  const others = new Map<string, string>()
  let received: { file: File } | undefined
  for await (const part of partsOf(request, maxBytes)) {
    if (part.type === 'file') {
      if (part.fieldname !== 'file') throw badRequest(`The part ${JSON.stringify(part.fieldname)} must not be a file.`)
      if (received) throw badRequest('There must be exactly one part named file.')
      const name = checkName(fileNameOf(part))
      received = { file: await receive({ name, mimeType: typeOf(part, name, guessesType), bytes: bytesOf(part) }) }
    } else if (part.fieldname === 'file') {
      throw badRequest('The part file must have a filename.')
    } else if (part.fieldname === 'parentId' || part.fieldname === 'projectId') {
      if (ids.has(part.fieldname)) throw badRequest(`${part.fieldname} must be given once`)
      ids.set(part.fieldname, idOf(part))
    } else if (typeof part.value === 'string') others.set(part.fieldname, part.value)
  }
  if (!received) throw badRequest('The part file is required')
  return { file: received.file, others, parentId: ids.get('parentId'), projectId: ids.get('projectId') }
}
