import type { Actor } from '../../../identity/actor.ts'
import { ApiError, badRequest } from '../../../platform/http/errors.ts'
import type { Db } from '../../../platform/database/database.ts'
import type { PreviewDeps } from '../../deps.ts'
import { PreviewError } from '../payload.ts'
import { readOnce } from '../once.ts'
import type { PreviewInput } from '../previewer.ts'
import { keepPreview } from '../previews.ts'
import type { PreviewSource } from '../previews.ts'
import * as queries from '../queries.ts'
import { limits } from './limits.ts'
import { specKey } from './image-spec.ts'
import type { ImageSpec } from './image-spec.ts'
import type { Image, Picture } from './run-picture.ts'

/** The types that are decoded. */
export const pictureTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/heic',
  'image/heif',
])

/** The types that images in other sizes are made of: of a PDF, its first page. */
export const imageTypes: ReadonlySet<string> = new Set([...pictureTypes, 'application/pdf'])

/** Increment it when a change affects the result, so that stored pictures are replaced. */
export const imageVersion = 3

/** A line of JSON with the type and size, then the bytes. */
const pack = ({ bytes, ...facts }: Image): Buffer => Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), bytes])

const unpack = <T extends Image>(payload: Buffer): T => {
  const end = payload.indexOf(10)
  const facts = JSON.parse(payload.toString('utf8', 0, end)) as Omit<T, 'bytes'>
  return { ...facts, bytes: payload.subarray(end + 1) } as T
}

const imageOf = <T extends Image>({ payload, refusal }: queries.PreviewRow): T => {
  if (payload === null) throw badRequest(refusal ?? 'The picture could not be read.')
  return unpack<T>(payload)
}

interface Wanted<T> {
  types: ReadonlySet<string>
  /** The name under which the result is stored. */
  format: string
  /** A larger result is not stored. */
  maxKeptBytes: number
  make(open: PreviewSource['open']): Promise<T>
}

/** The stored result, or a new one. A BAD_REQUEST is stored for an hour. */
const cached = async <T extends Image>(
  db: Db,
  actor: Pick<Actor, 'orgId'>,
  source: PreviewSource,
  { types, format, maxKeptBytes, make }: Wanted<T>,
): Promise<T> => {
  if (!types.has(source.mimeType)) throw badRequest(`Files of type ${source.mimeType} are not pictures.`)
  if (source.sizeBytes > limits.sourceBytes) throw badRequest('The picture could not be read: it is over 25 MB.')
  const key = { contentHash: source.contentHash, format, version: imageVersion }
  const find = () => queries.findPreview(db, actor, key)
  const kept = await find()
  if (kept) return imageOf<T>(kept)
  const read = await readOnce(`${actor.orgId} ${source.contentHash} ${format}`, {
    open: source.open,
    find,
    make: async (open) => {
      try {
        const made = await make(open)
        if (made.bytes.length <= maxKeptBytes) await keepPreview(db, actor, key, { payload: pack(made), refusal: null })
        return made
      } catch (error) {
        if (error instanceof ApiError && error.cause instanceof PreviewError) {
          await keepPreview(db, actor, key, { payload: null, refusal: error.message })
        }
        throw error
      }
    },
  })
  return 'made' in read ? read.made : imageOf<T>(read.stored)
}

type Deps = Pick<PreviewDeps, 'db' | 'previewer'>

/**
 * A picture for a model, resized once and stored with the previews of its bytes, because every step of a conversation
 * sends it again. BAD_REQUEST when the file is no picture, over 25 MB, damaged or exceeds a limit.
 */
export const cachedPicture = (
  { db, previewer }: Deps,
  actor: Pick<Actor, 'orgId' | 'userId'>,
  source: PreviewSource,
  signal?: AbortSignal,
): Promise<Picture> =>
  cached(db, actor, source, {
    types: pictureTypes,
    format: 'picture',
    maxKeptBytes: limits.outputBytes,
    make: (open) => previewer.picture({ ...source, open, orgId: actor.orgId, userId: actor.userId }, signal),
  })

/** A picture, or the first page of a PDF, in a size and format of choice, made once and stored in the same way. Throws like cachedPicture. */
export const cachedImage = (
  { db, previewer }: Deps,
  actor: Pick<Actor, 'orgId' | 'userId'> & Pick<PreviewInput, 'visitor'>,
  source: PreviewSource,
  { spec, signal }: { spec: ImageSpec; signal: AbortSignal },
): Promise<Image> =>
  cached(db, actor, source, {
    types: imageTypes,
    format: queries.imagePrefix + specKey(spec),
    maxKeptBytes: limits.outputBytes,
    make: (open) => {
      const { orgId, userId, visitor } = actor
      return previewer.image({ ...source, open, orgId, userId, visitor }, spec, signal)
    },
  })
