import { recordEvent } from '../../outbox/record.ts'
import type { EventAuthor } from '../../outbox/record.ts'
import type { EventData, EventType } from '../../outbox/catalog.ts'
import type { Transaction } from '../../platform/database/database.ts'

type Of<Area extends string> = Extract<EventType, `${Area}.${string}`>

/** Memberships belong to the org: also those who are in other workspaces read of them. */
export const recordMember = <T extends Of<'member'>>(
  db: Transaction,
  author: EventAuthor,
  type: T,
  data: EventData<T> & { memberId: string },
): Promise<void> => recordEvent(db, author, type, { subjectId: data.memberId, workspaceId: null, data })

export const recordOrg = (db: Transaction, author: EventAuthor, data: EventData<'org.updated'>): Promise<void> =>
  recordEvent(db, author, 'org.updated', { subjectId: data.orgId, workspaceId: null, data })

/** Only members of the workspace, owners and admins read of it. */
export const recordWorkspace = <T extends Of<'workspace'>>(
  db: Transaction,
  author: EventAuthor,
  type: T,
  data: EventData<T> & { workspaceId: string },
): Promise<void> => recordEvent(db, author, type, { subjectId: data.workspaceId, workspaceId: data.workspaceId, data })
