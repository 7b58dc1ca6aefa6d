/** Of all orgs together. */
const maxBytes = 67_108_864
/** An org with fewer bytes in flight than one body of the greatest size may always claim more. */
const ownBytes = 1_048_576

/**
 * The bytes of the bodies of attempts in flight, by org. They are divided like the places: one org uses at most half, two
 * a third each, so that an org whose endpoints hang with large bodies does not stop the deliveries of others.
 */
export const createBodies = () => {
  const ofOrg = new Map<string, number>()
  let total = 0
  return {
    add: (orgId: string, bytes: number): void => {
      total += bytes
      const sum = (ofOrg.get(orgId) ?? 0) + bytes
      if (sum > 0) ofOrg.set(orgId, sum)
      else ofOrg.delete(orgId)
    },
    /**
     * How many more bytes an org may claim while `orgs` claim, when it uses up to this part of its bytes. Its next body may
     * be larger when the result is above 0.
     */
    leftOf: (orgId: string, orgs: number, part: number): number => {
      const used = ofOrg.get(orgId) ?? 0
      const left = Math.max(ownBytes - used, Math.floor((maxBytes - total - used) / (orgs + 1)))
      return Math.floor((used + left) * part) - used
    },
  }
}

export type Bodies = ReturnType<typeof createBodies>
