import type { Static, TObject } from 'typebox'

/** The area of a type of event. Who has its permission to read, such as `files:read`, may read the event. */
export type EventArea =
  | 'files'
  | 'projects'
  | 'agents'
  | 'sessions'
  | 'webhooks'
  | 'billing'
  | 'connections'
  | 'workspaces'
  | 'members'
  | 'audit'

/** What an event is about. Events of one subject are numbered and can be delivered in order. */
export type SubjectType =
  | 'file'
  | 'project'
  | 'agent'
  | 'session'
  | 'webhook'
  | 'event_endpoint'
  | 'connection'
  | 'endpoint'
  | 'balance'
  | 'subscription'
  | 'org'
  | 'workspace'
  | 'member'
  | 'api_key'

export interface EventDefinition<Data extends TObject = TObject> {
  /** Increased when a field is removed or changes its meaning. */
  version: number
  area: EventArea
  subject: SubjectType
  /**
   * The subject belongs to one person, who may read its events with the permission of this area: besides those who may
   * read the area of the event, or nobody else (`isOnlyReader`).
   */
  owner?: { area: 'connections' | 'keys'; isOnlyReader: boolean }
  description: string
  /** The fields of `data`. Without secrets and contents. */
  data: Data
  example: Static<Data>
}

/** Checks the example against the schema at compile time. */
export const defineEvent = <Data extends TObject>(
  definition: Omit<EventDefinition<Data>, 'version'> & { version?: number },
): EventDefinition<Data> => ({ version: 1, ...definition })
