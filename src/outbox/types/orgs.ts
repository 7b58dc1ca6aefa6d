import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf } from './fields.ts'

export const orgEvents = {
  'org.updated': defineEvent({
    area: 'members',
    subject: 'org',
    description: 'The name, the logo or the defaults of the org were changed.',
    data: Type.Object({
      orgId: IdOf('ID of the org.'),
      name: Type.String({ description: 'Name of the org.' }),
      changed: ChangedFields,
    }),
    example: { orgId: exampleId, name: 'Northwind', changed: ['name'] },
  }),
}
