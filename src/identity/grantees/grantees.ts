import type { Db } from '../../platform/database/database.ts'
import * as queries from './queries.ts'

/** The names of the members and live workspaces of an org among those that were asked for, by id. */
export interface Grantees {
  users: ReadonlyMap<string, string>
  workspaces: ReadonlyMap<string, string>
}

const namesOf = (rows: { id: string; name: string }[]): Map<string, string> =>
  new Map(rows.map(({ id, name }) => [id, name]))

export const listGrantees = async (
  db: Db,
  orgId: string,
  { userIds, workspaceIds }: { userIds: readonly string[]; workspaceIds: readonly string[] },
): Promise<Grantees> => ({
  users: namesOf(userIds.length === 0 ? [] : await queries.listMembersOf(db, orgId, userIds)),
  workspaces: namesOf(workspaceIds.length === 0 ? [] : await queries.listWorkspacesOf(db, orgId, workspaceIds)),
})
