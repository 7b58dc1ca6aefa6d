import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { exampleId, IdOf } from './fields.ts'

const connectionId = IdOf('ID of the connection.')
const connector = Type.String({ description: 'Slug of the connector.' })

const owner = { area: 'connections', isOnlyReader: true } as const
const common = { area: 'connections', subject: 'connection', owner } as const
const example = { connectionId: exampleId, connector: 'slack' }

/** A connection belongs to one person, and nobody else may read it. */
export const connectorEvents = {
  'connection.created': defineEvent({
    ...common,
    description:
      'A person started a connection. It is usable after `connection.connected`, which follows immediately for connectors without credentials.',
    data: Type.Object({ connectionId, connector }),
    example,
  }),
  'connection.connected': defineEvent({
    ...common,
    description:
      'A connection became active: the provider accepted its credentials, also when a person connected again, or a person accepted the changed tools of its server.',
    data: Type.Object({ connectionId, connector }),
    example,
  }),
  'connection.broken': defineEvent({
    ...common,
    description:
      'A connection stopped working: the provider no longer accepts its credentials, or its server offers other tools than the person has accepted.',
    data: Type.Object({
      connectionId,
      connector,
      reason: Type.Enum(['credentials', 'tools'], { description: 'What a person has to renew.' }),
    }),
    example: { ...example, reason: 'credentials' },
  }),
  'connection.revoked': defineEvent({
    ...common,
    description: 'A person revoked and deleted a connection.',
    data: Type.Object({ connectionId, connector }),
    example,
  }),
  'connector.event.received': defineEvent({
    area: 'connections',
    subject: 'endpoint',
    owner,
    description:
      'An endpoint of a connection received and stored an event of its provider. Duplicates are not reported.',
    data: Type.Object({
      endpointId: IdOf('ID of the endpoint.'),
      eventType: Type.String({ description: 'Type of the event, as the provider calls it.' }),
      externalId: Type.String({ description: 'ID of the event at the provider, hashed when it is long.' }),
    }),
    example: { endpointId: exampleId, eventType: 'message', externalId: 'Ev0123456789' },
  }),
}
