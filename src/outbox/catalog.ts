import type { Static } from 'typebox'
import type { EventDefinition } from './define.ts'
import { agentEvents } from './types/agents.ts'
import { apiKeyEvents } from './types/api-keys.ts'
import { billingEvents } from './types/billing.ts'
import { fileEvents } from './types/files.ts'
import { memberEvents } from './types/members.ts'
import { orgEvents } from './types/orgs.ts'
import { projectEvents } from './types/projects.ts'
import { workspaceEvents } from './types/workspaces.ts'
import { eventEndpointEvents } from './types/event-endpoints.ts'
import { connectorEvents } from './types/connectors.ts'
import { sessionEvents } from './types/sessions.ts'
import { webhookEvents } from './types/webhooks.ts'

/** Every type of event, listed by hand. Routes, documents and the console are generated from it. */
export const eventTypes = {
  ...fileEvents,
  ...projectEvents,
  ...agentEvents,
  ...orgEvents,
  ...memberEvents,
  ...workspaceEvents,
  ...apiKeyEvents,
  ...billingEvents,
  ...eventEndpointEvents,
  ...sessionEvents,
  ...webhookEvents,
  ...connectorEvents,
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The types of events that the route can record; `x-events` of its operation in the API reference. */
    events?: readonly EventType[]
  }
}

export type EventTypes = typeof eventTypes
export type EventType = keyof EventTypes
export type EventData<T extends EventType> = Static<EventTypes[T]['data']>

export const definitionOf = (type: string): EventDefinition | undefined =>
  (eventTypes as Partial<Record<string, EventDefinition>>)[type]
