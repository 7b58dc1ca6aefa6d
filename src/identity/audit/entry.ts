import type { AuditRow } from './queries.ts'

/** An entry as the API shows it. */
export const toEntry = (row: AuditRow) => ({
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
