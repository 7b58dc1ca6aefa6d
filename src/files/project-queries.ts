import { sql } from '../platform/database.ts'
import type { Db } from '../platform/database.ts'
import type { Actor } from '../identity/actor.ts'

export interface ProjectRow {
  id: string
  name: string
  slug: string
  description: string | null
  instructions: string | null
  folderId: string
  createdAt: string
  updatedAt: string
  revision: number
}

const columns = sql`id, name, slug, description, instructions, folder_id, created_at, updated_at, revision`

export const findProject = (db: Db, actor: Actor, id: string) =>
  db.row<ProjectRow>(sql`
    select ${columns} from projects where org_id = ${actor.orgId} and id = ${id} and deleted_at is null`)
