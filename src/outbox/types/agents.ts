import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf } from './fields.ts'

const Name = Type.String({ description: 'Name of the agent.' })
const Slug = Type.String({ description: 'Slug of the agent.' })
const agentId = IdOf('ID of the agent.')

export const agentEvents = {
  'agent.created': defineEvent({
    area: 'agents',
    subject: 'agent',
    description: 'An agent was created.',
    data: Type.Object({ agentId, name: Name, slug: Slug, model: Type.String({ description: 'ID of its model.' }) }),
    example: { agentId: exampleId, name: 'Helper', slug: 'helper', model: 'demo/echo' },
  }),
  'agent.updated': defineEvent({
    area: 'agents',
    subject: 'agent',
    description: 'Fields of an agent were changed.',
    data: Type.Object({ agentId, name: Name, slug: Slug, changed: ChangedFields }),
    example: { agentId: exampleId, name: 'Helper', slug: 'helper', changed: ['model'] },
  }),
  'agent.deleted': defineEvent({
    area: 'agents',
    subject: 'agent',
    description: 'An agent was deleted. Its sessions remain.',
    data: Type.Object({ agentId, name: Name, slug: Slug }),
    example: { agentId: exampleId, name: 'Helper', slug: 'helper' },
  }),
}
