import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Actor } from '../../identity/actor.ts'
import { violatedConstraint } from '../../platform/database/errors.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import * as queries from './queries.ts'
import type { PreviewKey, PreviewRow } from './queries.ts'
import { Refusal } from './payload.ts'
import type { PreviewPayload } from './payload.ts'
import { previewFormatOf, textOf } from './previewer.ts'
import type { PreviewInput, Previewer } from './previewer.ts'

/** A file to be previewed, with the SHA-256 of its bytes in hex. */
export interface PreviewSource extends PreviewInput {
  contentHash: string
}

/** Raised by whoever changes what a preview shows. */
const version = 2

/** Previews that are kept of one org. They compress to a tenth: these are thousands. */
const keptBytes = 33_554_432

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const unpack = async ({ payload, refusal }: PreviewRow): Promise<PreviewPayload> => {
  if (payload === null) throw badRequest(refusal ?? 'This file cannot be previewed.')
  return JSON.parse((await decompress(payload)).toString()) as PreviewPayload
}

const keep = async (db: Db, actor: Actor, key: PreviewKey, row: PreviewRow): Promise<void> => {
  try {
    await queries.upsertPreview(db, actor, key, row)
    await queries.deleteOldPreviews(db, actor, keptBytes)
  } catch (error) {
    // The bytes went while they were read.
    if (violatedConstraint(error) !== 'previews_org_id_blob_id_fkey') throw error
  }
}

/**
 * The preview of a file, made at most once for the same bytes as long as it is kept. Throws like Previewer.preview,
 * and repeats its refusals for an hour.
 */
export const cachedPreview = async (
  db: Db,
  actor: Actor,
  previewer: Previewer,
  source: PreviewSource,
  signal?: AbortSignal,
): Promise<PreviewPayload> => {
  const format = previewFormatOf(source)
  // Text is read in less time than it takes to look it up.
  if (format === 'text') return previewer.preview(source, signal)
  const key: PreviewKey = { contentHash: source.contentHash, format, version }
  const kept = await queries.findPreview(db, actor, key)
  if (kept) return unpack(kept)
  try {
    const payload = await previewer.preview({ ...source, orgId: actor.orgId }, signal)
    await keep(db, actor, key, { payload: await compress(JSON.stringify(payload)), refusal: null })
    return payload
  } catch (error) {
    if (error instanceof ApiError && error.cause instanceof Refusal) {
      await keep(db, actor, key, { payload: null, refusal: error.message })
    }
    throw error
  }
}

/** The same as plain text, for a model: up to 512 KB; sheets as lines with tabs. */
export const cachedText = async (
  ...given: Parameters<typeof cachedPreview>
): Promise<{ text: string; truncated: boolean }> => textOf(await cachedPreview(...given))
