/**
 * Which orgs a way to sign in opens, of those that its person belongs to; null: all of them. What an org's link began
 * opens that org alone.
 */
export type Reach = readonly string[] | null

export const reaches = (reach: Reach, orgId: string): boolean => reach === null || reach.includes(orgId)

/** What somebody may open who has proved both. */
export const joinReach = (one: Reach, other: Reach): Reach =>
  one === null || other === null ? null : [...new Set([...one, ...other])]

/** Whether any org is opened by both; for all orgs of a person, only what opens all of them counts. */
export const overlaps = (one: Reach, other: Reach): boolean =>
  one === null || (other !== null && other.some((orgId) => one.includes(orgId)))

/** Whether everything that the inner one opens is opened by the outer one. */
export const isWithin = (inner: Reach, outer: Reach): boolean =>
  outer === null || (inner !== null && inner.every((orgId) => outer.includes(orgId)))
