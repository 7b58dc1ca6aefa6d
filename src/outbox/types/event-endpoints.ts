import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf } from './fields.ts'

const endpointId = IdOf('ID of the event endpoint.')
const Name = Type.String({ description: 'Name of the event endpoint.' })

export const eventEndpointEvents = {
  'event_endpoint.created': defineEvent({
    area: 'webhooks',
    subject: 'event_endpoint',
    description: 'An event endpoint was created.',
    data: Type.Object({
      endpointId,
      name: Name,
      types: Type.Array(Type.String(), { description: 'Event types that it receives.' }),
    }),
    example: { endpointId: exampleId, name: 'Data warehouse', types: ['agent.*'] },
  }),
  'event_endpoint.updated': defineEvent({
    area: 'webhooks',
    subject: 'event_endpoint',
    description: 'Fields or the secret of an event endpoint were changed.',
    data: Type.Object({ endpointId, name: Name, changed: ChangedFields }),
    example: { endpointId: exampleId, name: 'Data warehouse', changed: ['types'] },
  }),
  'event_endpoint.deleted': defineEvent({
    area: 'webhooks',
    subject: 'event_endpoint',
    description: 'An event endpoint was deleted.',
    data: Type.Object({ endpointId, name: Name }),
    example: { endpointId: exampleId, name: 'Data warehouse' },
  }),
  'event_endpoint.disabled': defineEvent({
    area: 'webhooks',
    subject: 'event_endpoint',
    description: 'The server disabled an event endpoint, because its URL responded with 410 or failed for five days.',
    data: Type.Object({ endpointId, name: Name, reason: Type.String({ description: 'Why it was disabled.' }) }),
    example: { endpointId: exampleId, name: 'Data warehouse', reason: 'The endpoint responded with 410 Gone.' },
  }),
}
