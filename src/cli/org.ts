import { findOrg } from '../identity/members/org-queries.ts'
import type { OrgSettingsRow } from '../identity/members/org-queries.ts'
import type { Db } from '../platform/database/database.ts'
import { notFound } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'

/** Throws NOT_FOUND, also for an ID that is not a UUID. */
export const getOrg = async (db: Db, id: string): Promise<OrgSettingsRow> => {
  const org = isUuid(id) ? await findOrg(db, id) : undefined
  if (!org) throw notFound('Org')
  return org
}
