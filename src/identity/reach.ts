/**
 * Which orgs a way to sign in opens, of those that its person belongs to; null: all of them. What an org's link began
 * opens that org alone.
 */
export type Reach = readonly string[] | null

export const reaches = (reach: Reach, orgId: string): boolean => reach === null || reach.includes(orgId)

/** What somebody may open who has proved both. */
export const joinReach = (one: Reach, other: Reach): Reach =>
  one === null || other === null ? null : [...new Set([...one, ...other])]
