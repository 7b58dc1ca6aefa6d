import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Actor } from '../../identity/actor.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import type { PreviewDeps } from '../deps.ts'
import { readOnce } from './once.ts'
import * as queries from './queries.ts'
import type { PreviewKey, PreviewRow } from './queries.ts'
import { PreviewError } from './payload.ts'
import type { PreviewPayload } from './payload.ts'
import { previewFormatOf, textOf } from './previewer.ts'
import type { PreviewInput } from './previewer.ts'

/** A file to preview, with the SHA-256 of its bytes in hex. */
export interface PreviewSource extends PreviewInput {
  contentHash: string
}

/** Increment it when a change affects the content of previews, so that stored ones are replaced. */
const version = 3

/** Stored previews per org. Compression reduces previews to a tenth, so this is enough for thousands. */
const keptBytes = 33_554_432
/** Stored images per org: 3,000 of 20 kB. They have a space of their own, so that they do not replace previews. */
const keptImageBytes = 67_108_864

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const unpack = async ({ payload, refusal }: PreviewRow): Promise<PreviewPayload> => {
  if (payload === null) throw badRequest(refusal ?? 'This file cannot be previewed.')
  return JSON.parse((await decompress(payload)).toString()) as PreviewPayload
}

/** Stores a preview or a rejection, and deletes the oldest ones of the org. */
export const keepPreview = async (
  db: Db,
  actor: Pick<Actor, 'orgId'>,
  key: PreviewKey,
  row: PreviewRow,
): Promise<void> => {
  try {
    await queries.upsertPreview(db, actor, key, row)
    const isImage = key.format.startsWith(queries.imagePrefix)
    await queries.deleteOldPreviews(db, actor, { isImage, maxBytes: isImage ? keptImageBytes : keptBytes })
  } catch (error) {
    // The blob was deleted in the meantime.
    if (violatedConstraint(error) !== 'previews_org_id_blob_id_fkey') throw error
  }
}

/**
 * The preview of a file, stored so that the same bytes are read once. Throws like Previewer.preview. A BAD_REQUEST is
 * stored for an hour.
 */
export const cachedPreview = async (
  { db, previewer }: Pick<PreviewDeps, 'db' | 'previewer'>,
  actor: Pick<Actor, 'orgId' | 'userId'> & Pick<PreviewInput, 'visitor'>,
  source: PreviewSource,
  signal?: AbortSignal,
): Promise<PreviewPayload> => {
  const { orgId, userId, visitor } = actor
  const format = previewFormatOf(source)
  // Reading text is faster than a query for a stored preview.
  if (format === 'text') return previewer.preview(source, signal)
  const key: PreviewKey = { contentHash: source.contentHash, format, version }
  const find = () => queries.findPreview(db, actor, key)
  const kept = await find()
  if (kept) return unpack(kept)
  const make = async (open: PreviewInput['open']): Promise<PreviewPayload> => {
    try {
      const payload = await previewer.preview({ ...source, open, orgId, userId, visitor }, signal)
      await keepPreview(db, actor, key, { payload: await compress(JSON.stringify(payload)), refusal: null })
      return payload
    } catch (error) {
      if (error instanceof ApiError && error.cause instanceof PreviewError) {
        await keepPreview(db, actor, key, { payload: null, refusal: error.message })
      }
      throw error
    }
  }
  const read = await readOnce(`${orgId} ${source.contentHash} ${format}`, { open: source.open, find, make })
  return 'made' in read ? read.made : unpack(read.stored)
}

/** The same as plain text for a model, up to 512 KB; sheets as tab-separated lines. */
export const cachedText = async (
  ...given: Parameters<typeof cachedPreview>
): Promise<{ text: string; truncated: boolean }> => textOf(await cachedPreview(...given))
