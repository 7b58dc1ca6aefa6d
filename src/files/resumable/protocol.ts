/** The headers of the tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload). */
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import type { ErrorCode } from '../../platform/http/errors.ts'
import { failureBody } from '../../platform/http/errors.ts'
import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import { isUuid } from '../../platform/ids.ts'

export const version = '1.0.0'
export const uploadsPath = `${apiPrefix}/uploads`
export const extensions = 'creation,creation-with-upload,expiration,checksum,termination,concatenation'
export const algorithms = ['sha1', 'sha256']
export const chunkType = 'application/offset+octet-stream'

const maxMetadataLength = 8_192
const maxPartials = 100

/** An error whose status the protocol defines and the API has no code for. */
export class TusError extends ApiError {
  readonly tusStatus: number

  constructor(tusStatus: number, code: ErrorCode, message: string, headers?: Record<string, string>) {
    super(code, message, headers === undefined ? {} : { headers })
    this.name = 'TusError'
    this.tusStatus = tusStatus
  }
}

export const expired = () => new TusError(410, 'NOT_FOUND', 'This upload has expired. Begin a new one.')
export const tooLarge = (most: number) => new TusError(413, 'BAD_REQUEST', `An upload must have at most ${most} bytes.`)
export const locked = () =>
  new TusError(423, 'CONFLICT', 'Another request is using this upload. Try again shortly.', { 'retry-after': '1' })
export const wrongType = () => new TusError(415, 'BAD_REQUEST', `The Content-Type must be ${chunkType}.`)
export const wrongChecksum = () =>
  new TusError(460, 'BAD_REQUEST', 'The body does not have the checksum of Upload-Checksum. Nothing of it was stored.')

/** The API's envelope with the statuses of the protocol. */
export const tusErrors: ErrorFormat = {
  prefix: uploadsPath,
  failure: (error) => ({
    body: failureBody(error.code, error.message),
    headers: { 'tus-resumable': version },
    ...(error instanceof TusError ? { status: error.tusStatus } : {}),
  }),
}

type Headers = IncomingHttpHeaders

const textOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Throws for a version of the protocol that the server does not know. */
export const checkVersion = (headers: Headers): void => {
  const given = textOf(headers, 'tus-resumable')
  if (given === undefined || given === version) return
  throw new TusError(412, 'BAD_REQUEST', `Tus-Resumable must be ${version}`, { 'tus-version': version })
}

const byteCount = (headers: Headers, name: string): number | undefined => {
  const value = textOf(headers, name.toLowerCase())
  if (value === undefined) return undefined
  // No safe integer has more digits.
  if (!/^\d{1,15}$/.test(value)) throw badRequest(`${name} must be a whole number of bytes`)
  return Number(value)
}

export const offsetOf = (headers: Headers): number => {
  const offset = byteCount(headers, 'Upload-Offset')
  if (offset === undefined) throw badRequest('Upload-Offset is required')
  return offset
}

export const lengthOf = (headers: Headers): number => {
  if (headers['upload-defer-length'] !== undefined) {
    throw badRequest('Upload-Defer-Length is not supported. Send Upload-Length.')
  }
  const length = byteCount(headers, 'Upload-Length')
  if (length === undefined) throw badRequest('Upload-Length is required')
  return length
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const decodeValue = (key: string, value: string): string => {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw badRequest(`The value of ${key} in Upload-Metadata is not Base64.`)
  try {
    return utf8.decode(Buffer.from(value, 'base64'))
  } catch (cause) {
    throw badRequest(`The value of ${key} in Upload-Metadata is not UTF-8.`, { cause })
  }
}

/** The decoded pairs of Upload-Metadata: `key base64,key base64,key`. */
export const metadataOf = (headers: Headers): { text: string | null; values: ReadonlyMap<string, string> } => {
  const text = textOf(headers, 'upload-metadata')
  const values = new Map<string, string>()
  if (text === undefined || text.trim() === '') return { text: null, values }
  if (text.length > maxMetadataLength) {
    throw badRequest(`Upload-Metadata must have at most ${maxMetadataLength} characters`)
  }
  for (const pair of text.split(',')) {
    const [key = '', value = '', ...more] = pair.trim().split(' ')
    if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(key) || more.length > 0) throw badRequest('Upload-Metadata is malformed.')
    if (values.has(key)) throw badRequest(`Upload-Metadata has ${key} more than once.`)
    values.set(key, decodeValue(key, value))
  }
  return { text, values }
}

/** `partial`, the ids of the uploads that a final one consists of, or undefined for an ordinary upload. */
export const concatOf = (headers: Headers): 'partial' | string[] | undefined => {
  const value = textOf(headers, 'upload-concat')
  if (value === undefined) return undefined
  if (value === 'partial') return 'partial'
  if (!value.startsWith('final;')) throw badRequest('Upload-Concat must be partial, or final; with URLs of uploads')
  const urls = value
    .slice('final;'.length)
    .split(' ')
    .filter((url) => url !== '')
  const ids = urls.map((url) => {
    const path = URL.parse(url, 'http://server.invalid')?.pathname ?? ''
    const id = path.slice(path.lastIndexOf('/') + 1)
    if (!path.endsWith(`${uploadsPath}/${id}`) || !isUuid(id))
      throw badRequest('Upload-Concat must have URLs of uploads')
    return id.toLowerCase()
  })
  if (ids.length === 0 || ids.length > maxPartials) {
    throw badRequest(`Upload-Concat must have 1–${maxPartials} URLs of uploads`)
  }
  if (new Set(ids).size !== ids.length) throw badRequest('Upload-Concat has a URL more than once.')
  return ids
}

export interface Checksum {
  hash: Hash
  expected: Buffer
}

/** The checksum that the body must have. */
export const checksumOf = (headers: Headers): Checksum | undefined => {
  const value = textOf(headers, 'upload-checksum')
  if (value === undefined) return undefined
  const [algorithm = '', digest = '', ...more] = value.split(' ')
  if (!algorithms.includes(algorithm)) {
    throw badRequest(`Upload-Checksum must begin with one of ${algorithms.join(', ')}`)
  }
  if (more.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(digest)) throw badRequest('Upload-Checksum is malformed.')
  return { hash: createHash(algorithm), expected: Buffer.from(digest, 'base64') }
}
