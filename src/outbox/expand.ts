import type { EventType } from './catalog.ts'

/** The contents that an event refers to; null when they do not exist any more. Read with the same permission as the event. */
export type Expand = (orgId: string, data: Record<string, unknown>) => Promise<Record<string, unknown> | null>

/** By type. Events of other types refer to no contents. */
export type Expanders = Partial<Record<EventType, Expand>>

/** Contents of more bytes as JSON are left out. */
export const maxExpandedBytes = 1_500_000

/** `{ expanded }` for an event that refers to contents, which are null when they are gone or too large; otherwise `{}`. */
export const expandEvent = async (
  expanders: Expanders,
  { orgId, type, data }: { orgId: string; type: string; data: Record<string, unknown> },
): Promise<{ expanded?: Record<string, unknown> | null }> => {
  const expand = expanders[type as EventType]
  if (!expand) return {}
  const expanded = await expand(orgId, data)
  if (expanded === null || Buffer.byteLength(JSON.stringify(expanded)) > maxExpandedBytes) return { expanded: null }
  return { expanded }
}
