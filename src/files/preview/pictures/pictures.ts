import type { Actor } from '../../../identity/actor.ts'
import { ApiError, badRequest } from '../../../platform/http/errors.ts'
import type { PreviewDeps } from '../../deps.ts'
import { PreviewError } from '../payload.ts'
import { keepPreview } from '../previews.ts'
import type { PreviewSource } from '../previews.ts'
import * as queries from '../queries.ts'
import { limits } from './limits.ts'
import type { Picture } from './run-picture.ts'

/** The types that are decoded. */
export const pictureTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/webp',
  'image/gif',
])

/** Increment it when a change affects the result, so that stored pictures are replaced. */
const version = 1

/** A line of JSON with the type and size, then the bytes. */
const pack = ({ bytes, ...facts }: Picture): Buffer => Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), bytes])

const unpack = (payload: Buffer): Picture => {
  const end = payload.indexOf(10)
  const facts = JSON.parse(payload.toString('utf8', 0, end)) as Omit<Picture, 'bytes'>
  return { ...facts, bytes: payload.subarray(end + 1) }
}

/**
 * A picture for a model, resized once and stored with the previews of its bytes, because every step of a conversation
 * sends it again. BAD_REQUEST when the file is no picture, over 25 MB, damaged or exceeds a limit.
 */
export const cachedPicture = async (
  { db, previewer }: Pick<PreviewDeps, 'db' | 'previewer'>,
  actor: Actor,
  source: PreviewSource,
  signal?: AbortSignal,
): Promise<Picture> => {
  if (!pictureTypes.has(source.mimeType)) throw badRequest(`Files of type ${source.mimeType} are not pictures.`)
  if (source.sizeBytes > limits.sourceBytes) throw badRequest('The picture could not be read: it is over 25 MB.')
  const key = { contentHash: source.contentHash, format: 'picture', version }
  const kept = await queries.findPreview(db, actor, key)
  if (kept?.payload) return unpack(kept.payload)
  if (kept) throw badRequest(kept.refusal ?? 'The picture could not be read.')
  try {
    const picture = await previewer.picture({ ...source, orgId: actor.orgId }, signal)
    await keepPreview(db, actor, key, { payload: pack(picture), refusal: null })
    return picture
  } catch (error) {
    if (error instanceof ApiError && error.cause instanceof PreviewError) {
      await keepPreview(db, actor, key, { payload: null, refusal: error.message })
    }
    throw error
  }
}
