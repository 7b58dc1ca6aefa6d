import { createHash } from 'node:crypto'
import type { InlineFile } from '../../files/files.ts'
import { invalid, unsupported } from './errors.ts'
import type { ChatContentPart } from './schemas.ts'

const dataUrl = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/i

const readDataUrl = (url: string, param: string): { mimeType: string; bytes: Buffer } => {
  const [, mimeType, base64] = dataUrl.exec(url) ?? []
  if (mimeType === undefined || base64 === undefined || base64 === '') {
    throw invalid(param, `${param} must be a data: URL with a media type and base64`)
  }
  return { mimeType: mimeType.toLowerCase(), bytes: Buffer.from(base64, 'base64') }
}

/** Bytes name the file, so that the same picture in the next request of the conversation is the same file. */
const pictureName = (bytes: Buffer, mimeType: string): string =>
  `picture-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.${mimeType.slice(6)}`

/** A picture or file that the request contains; undefined for every other part. */
export const readInlineFile = (part: ChatContentPart, param: string): InlineFile | undefined => {
  if (part.type === 'image_url') {
    const at = `${param}.image_url`
    const url = part.image_url?.url ?? ''
    if (!url.startsWith('data:')) {
      throw unsupported(at, `${at}.url must be a data: URL: the server does not fetch pictures from other servers`)
    }
    const { bytes, mimeType } = readDataUrl(url, at)
    if (!mimeType.startsWith('image/')) throw invalid(at, `${at}.url must be a picture`)
    return { bytes, mimeType, name: pictureName(bytes, mimeType) }
  }
  if (part.type !== 'file' || part.file?.file_data === undefined) return undefined
  const at = `${param}.file`
  const { file_data: data, file_id: id, filename = 'file' } = part.file
  if (id !== undefined) throw invalid(at, `${at} must have either file_id or file_data`)
  return { ...readDataUrl(data, `${at}.file_data`), name: filename }
}
