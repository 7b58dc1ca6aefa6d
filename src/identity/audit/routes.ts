import { Readable } from 'node:stream'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import type { Database } from '../../platform/database/database.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, ok, Success } from '../../platform/http/schemas.ts'
import { toEntry } from './entry.ts'
import { exportEntries, maxExported } from './export.ts'
import * as queries from './queries.ts'
import { AuditEntry, AuditExportQuery, AuditQuery } from '../schemas.ts'

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
      const { limit } = query
      const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, ['timestamp', 'uuid'])
      const rows = await queries.listEntries(db.replica, actor, query, { limit: limit + 1, after })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const nextCursor = rows.length > limit && last ? encodeCursor([last.atExactly, last.id]) : null
      return ok({ items: page.map(toEntry), nextCursor })
    },
  )

  app.get(
    `${apiPrefix}/audit-log/export`,
    {
      config: { access: 'audit:read' },
      schema: {
        tags: ['Audit log'],
        summary: 'List audit log entries as a file',
        description: `Returns the newest ${maxExported.toLocaleString('en')} entries that match the filters as a file: CSV with a header, or JSON with one entry per line. Text that a spreadsheet program would evaluate as a formula begins with an apostrophe in CSV.`,
        querystring: AuditExportQuery,
        response: {
          200: {
            description: 'The entries, newest first.',
            content: {
              'text/csv': { schema: { type: 'string', examples: ['id,at,actorId,actorName,apiKeyId,action\r\n'] } },
              'application/jsonl': { schema: { type: 'string', examples: ['{"action":"member.added"}\n'] } },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { actor, query } = request
      const { format } = query
      onceClosed(
        reply.raw,
        request.watchAuthority(() => void reply.raw.destroy()),
      )
      reply.header('content-disposition', `attachment; filename="audit-log.${format}"`)
      reply.type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8')
      return reply.send(Readable.from(exportEntries(db.replica, actor, query, format)) as never)
    },
  )
}
