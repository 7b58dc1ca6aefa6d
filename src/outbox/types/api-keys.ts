import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { exampleId, IdOf, otherExampleId } from './fields.ts'

const data = Type.Object({
  apiKeyId: IdOf('ID of the API key.'),
  name: Type.String({ description: 'Name of the key.' }),
  last4: Type.String({ description: 'Last four characters of the key.' }),
  userId: IdOf('ID of the person whose key it is.'),
})
const example = { apiKeyId: exampleId, name: 'Deployment', last4: 'x7Qa', userId: otherExampleId }

// Members may read their own keys. The events of the keys of others need the permission to read the audit log.
const common = { area: 'audit', subject: 'api_key', owner: { area: 'keys', isOnlyReader: false } } as const

export const apiKeyEvents = {
  'api_key.created': defineEvent({
    ...common,
    description: 'An API key was created, or a person authorized an app.',
    data,
    example,
  }),
  'api_key.revoked': defineEvent({
    ...common,
    description:
      'An API key or the access of an app was revoked. Keys also end, without this event, when they expire or their user is removed.',
    data,
    example,
  }),
}
