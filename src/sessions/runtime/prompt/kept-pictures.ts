import type { Picture } from '../../../files/files.ts'
import { newId } from '../../../platform/ids.ts'

/**
 * The pictures that tools returned, until their turn ends. They are not stored: pictures of a connection can be private to
 * its person, and files are visible in the whole org. The oldest are dropped, so that their memory is bounded.
 */
export interface KeptPictures {
  /** Returns the id of the picture. */
  keep(owner: PictureOwner, picture: Picture): string
  find(owner: PictureOwner, id: string): Picture | undefined
  /** The turn has ended. */
  drop(owner: PictureOwner): void
}

export interface PictureOwner {
  orgId: string
  turnId: string
}

export const keptPictureLimits = { bytes: 33_554_432, turnBytes: 8_388_608, orgBytes: 16_777_216 }

interface Kept extends PictureOwner {
  picture: Picture
}

const sizeOf = (kept: Iterable<Kept>): number => [...kept].reduce((sum, { picture }) => sum + picture.bytes.length, 0)

export const createKeptPictures = (limits = keptPictureLimits): KeptPictures => {
  // Oldest first. At most some hundred pictures fit into the memory.
  const all = new Map<string, Kept>()
  const dropOldest = (isOf: (kept: Kept) => boolean, maxBytes: number): void => {
    const ofGroup = [...all].filter(([, kept]) => isOf(kept))
    let bytes = sizeOf(ofGroup.map(([, kept]) => kept))
    for (const [id, { picture }] of ofGroup) {
      if (bytes <= maxBytes) return
      all.delete(id)
      bytes -= picture.bytes.length
    }
  }
  return {
    keep: ({ orgId, turnId }, picture) => {
      const id = newId()
      all.set(id, { orgId, turnId, picture })
      dropOldest((kept) => kept.orgId === orgId && kept.turnId === turnId, limits.turnBytes)
      dropOldest((kept) => kept.orgId === orgId, limits.orgBytes)
      dropOldest(() => true, limits.bytes)
      return id
    },
    find: ({ orgId, turnId }, id) => {
      const kept = all.get(id)
      return kept?.orgId === orgId && kept.turnId === turnId ? kept.picture : undefined
    },
    drop: ({ orgId, turnId }) => {
      for (const [id, kept] of all) if (kept.orgId === orgId && kept.turnId === turnId) all.delete(id)
    },
  }
}
