import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf } from './fields.ts'

const Name = Type.String({ description: 'Name of the agent.' })
const Slug = Type.String({ description: 'Slug of the agent.' })
const agentId = IdOf('ID of the agent.')
const connector = Type.String({ description: 'Slug of the connector.' })
// A consent is about the connections of one person, which nobody else may read.
const owner = { area: 'connections', isOnlyReader: true } as const

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
  'agent.consent_given': defineEvent({
    area: 'agents',
    subject: 'agent',
    owner,
    description: 'A person allowed an agent to use their connections to a connector, or changed that consent.',
    data: Type.Object({
      agentId,
      connector,
      askAfterUntrustedContent: Type.Boolean({
        description: 'Whether the agent asks before it changes something after it has read untrusted content.',
      }),
    }),
    example: { agentId: exampleId, connector: 'slack', askAfterUntrustedContent: true },
  }),
  'agent.consent_withdrawn': defineEvent({
    area: 'agents',
    subject: 'agent',
    owner,
    description: 'A person withdrew the consent for an agent.',
    data: Type.Object({ agentId, connector }),
    example: { agentId: exampleId, connector: 'slack' },
  }),
}
