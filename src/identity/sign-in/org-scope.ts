/**
 * The orgs of a person that a session, password, link or second factor gives access to; null: all of them. What began with
 * the sign-in link of one org is limited to that org.
 */
export type OrgScope = readonly string[] | null

/** The scope of a person who has proved both. */
export const joinScopes = (one: OrgScope, other: OrgScope): OrgScope =>
  one === null || other === null ? null : [...new Set([...one, ...other])]

/** Whether the scopes share an org. Only `null` overlaps with the scope of all orgs on the right. */
export const overlaps = (one: OrgScope, other: OrgScope): boolean =>
  one === null || (other !== null && other.some((orgId) => one.includes(orgId)))

export const isWithin = (inner: OrgScope, outer: OrgScope): boolean =>
  outer === null || (inner !== null && inner.every((orgId) => outer.includes(orgId)))
