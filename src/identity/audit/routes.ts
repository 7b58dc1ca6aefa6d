import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import type { Database } from '../../platform/database/database.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, ok, Success } from '../../platform/http/schemas.ts'
import * as queries from './queries.ts'
import type { AuditRow } from './queries.ts'
import { AuditEntry, AuditQuery } from '../schemas.ts'

const toEntry = (row: AuditRow) => ({
  id: row.id,
  at: row.at,
  actor: { id: row.userId, name: row.actorName, apiKeyId: row.apiKeyId },
  action: row.action,
  resource: { type: row.resourceType, id: row.resourceId },
  details: row.details,
  ip: row.ip,
  requestId: row.requestId,
  seq: row.seq === null ? null : Number(row.seq),
  hash: row.hash,
})

export const registerAuditRoutes = (app: App, db: Database): void => {
  app.get(
    `${apiPrefix}/audit-log`,
    {
      config: { access: 'audit:read' },
      schema: {
        tags: ['Audit log'],
        summary: 'List audit log entries',
        description: 'Returns who changed what in the org, newest first. Filters can be combined.',
        querystring: AuditQuery,
        response: { 200: Success(CursorList(AuditEntry)) },
      },
    },
    async ({ actor, query }) => {
      const { action, actorId, since, until, limit } = query
      const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, ['timestamp', 'uuid'])
      const rows = await queries.listEntries(
        db.replica,
        actor,
        { action, actorId, since, until },
        { limit: limit + 1, after },
      )
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const nextCursor = rows.length > limit && last ? encodeCursor([last.atExactly, last.id]) : null
      return ok({ items: page.map(toEntry), nextCursor })
    },
  )
}
