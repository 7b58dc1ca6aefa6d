// The conditions by which every statement over files obeys the restrictions of folders.
import type { Actor } from '../../identity/actor.ts'
import { empty, sql } from '../../platform/database/database.ts'
import type { Sql } from '../../platform/database/database.ts'

/** A person by whose rights files are read or changed. */
export type Reader = Pick<Actor, 'orgId' | 'userId' | 'role' | 'workspaceIds'>

/** The holder of a URL that was issued by someone with access, and that is a credential of its own. */
export interface Unrestricted {
  orgId: string
  unrestrictedBy: 'signed URL'
}

export type Access = 'read' | 'write'

/**
 * The restricted folders that are open to a person. A subquery of its own, which PostgreSQL evaluates once, and only when a
 * row lies in a restricted folder.
 */
export const openFolders = ({ orgId, userId, role, workspaceIds }: Reader, access: Access): Sql => sql`array(
  select g.folder_id from folder_grants g
  where g.org_id = ${orgId}
    and (g.user_id = ${userId} or g.role = ${role} or g.workspace_id = any(${workspaceIds}::uuid[]))
    ${access === 'write' ? sql`and g.access = 'write'` : empty})`

/** Owners have access to all files, so that no folder can be lost. */
export const hasAllAccess = (reader: Reader | Unrestricted): reader is Unrestricted | (Reader & { role: 'owner' }) =>
  'unrestrictedBy' in reader || reader.role === 'owner'

const isOpen = (reader: Reader | Unrestricted, guards: Sql, access: Access): Sql =>
  hasAllAccess(reader) ? sql`true` : sql`(${guards} is null or ${guards} <@ ${openFolders(reader, access)})`

/** Whether the reader may see a file. */
export const mayRead = (reader: Reader | Unrestricted, guards = sql`f.guards`): Sql => isOpen(reader, guards, 'read')

/** Whether the reader may change a file. */
export const mayWrite = (reader: Reader, guards = sql`f.guards`): Sql => isOpen(reader, guards, 'write')
