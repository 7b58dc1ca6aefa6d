import { ApiError } from '../platform/http/errors.ts'
import type { CallingTurn } from '../tool.ts'

const maxPictures = 4

/** Names the pictures in the content by the ids under which the turn keeps them, and says why others are not shown. */
export const withPictures = async (
  content: readonly unknown[],
  pictures: readonly { place: number; bytes: Buffer }[],
  turn: CallingTurn | null,
): Promise<unknown[]> => {
  const shown: unknown[] = [...content]
  for (const { place, bytes } of turn === null ? [] : pictures.slice(0, maxPictures)) {
    const { mimeType } = shown[place] as { mimeType?: unknown }
    try {
      shown[place] = { type: 'image', mimeType, pictureId: await turn?.keepPicture(bytes) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      shown[place] = { type: 'image', mimeType, omitted: true, error: error.message }
    }
  }
  return shown
}
