import { sql } from '../../../platform/database/database.ts'
import type { Db } from '../../../platform/database/database.ts'

/** What a response has besides its turn. */
export interface ResponseRecord {
  /** As the request named it: `agent/<slug or id>`. */
  model: string
  metadata: Record<string, string>
  previousId: string | null
  isBackground: boolean
  /** False for a response that was deleted, or that the client did not want to be stored. */
  isStored: boolean
}

/** Adds or replaces the response that begins after a step of a turn. */
export const setResponse = (
  db: Db,
  orgId: string,
  { turnId, afterStep }: { turnId: string; afterStep: number },
  record: ResponseRecord,
) =>
  db.execute(sql`
    update turns set responses = coalesce(responses, '{}'::jsonb) || ${JSON.stringify({ [afterStep]: record })}::jsonb
    where org_id = ${orgId} and id = ${turnId}`)

/** The responses of a turn by the step after which they begin. */
export const listResponses = async (
  db: Db,
  orgId: string,
  turnId: string,
): Promise<Partial<Record<string, ResponseRecord>>> => {
  const row = await db.row<{ responses: Record<string, ResponseRecord> | null }>(sql`
    select responses from turns where org_id = ${orgId} and id = ${turnId}`)
  return row?.responses ?? {}
}

export const findResponse = async (
  db: Db,
  orgId: string,
  turnId: string,
  afterStep: number,
): Promise<ResponseRecord | undefined> => (await listResponses(db, orgId, turnId))[String(afterStep)]
