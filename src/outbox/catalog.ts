import type { Static } from 'typebox'
import type { EventDefinition } from './define.ts'
import { agentEvents } from './types/agents.ts'
import { connectorEvents } from './types/connectors.ts'
import { sessionEvents } from './types/sessions.ts'
import { webhookEvents } from './types/webhooks.ts'

/** Every type of event, listed by hand. Routes, documents and the console are generated from it. */
export const eventTypes = {
  ...agentEvents,
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
