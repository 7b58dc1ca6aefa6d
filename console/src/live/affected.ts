// Which responses an event makes outdated.
import type { Event, Route } from '@atrium/client'

/** The start of a query key; `session` is the session of the browser. */
type Target = Route | 'session'

export interface Affected {
  all: readonly Target[]
  /** Only responses whose request names a resource of the event. */
  own: readonly Target[]
}

interface Rule {
  /** Start of the types of events. */
  types: string
  all?: readonly Target[]
  own?: readonly Target[]
  /** An event of another workspace than that of the tab affects nothing. */
  ofWorkspace?: true
}

const conversation: readonly Target[] = ['GET /sessions/:id', 'GET /sessions/:id/messages', 'GET /turns/:id']

// The first rule that matches applies.
const rules: readonly Rule[] = [
  {
    types: 'file.',
    all: ['GET /files', 'GET /files/usage', 'GET /files/shares'],
    own: ['GET /files/:id', 'GET /files/:id/preview', 'GET /files/:id/versions', 'GET /files/:id/shares'],
  },
  { types: 'folder.', all: ['GET /files', 'GET /files/usage', 'GET /files/:id', 'GET /files/:id/access'] },
  { types: 'project.', all: ['GET /projects', 'GET /files'] },
  { types: 'agent.', all: ['GET /agents', 'GET /agents/:id', 'GET /agents/:id/peers'], ofWorkspace: true },
  { types: 'session.', all: ['GET /sessions', 'GET /agents/:id/sessions'], own: conversation, ofWorkspace: true },
  {
    types: 'message.',
    all: ['GET /sessions', 'GET /agents/:id/sessions', 'GET /agents/:id/messages'],
    own: conversation,
    ofWorkspace: true,
  },
  // A turn is charged.
  { types: 'turn.', all: ['GET /sessions', 'GET /agents/:id/sessions', 'GET /billing'], own: conversation },
  {
    types: 'webhook.event.',
    all: ['GET /webhooks/events'],
    own: ['GET /webhooks/:id/events', 'GET /webhooks/:id/deliveries'],
  },
  {
    types: 'webhook.delivery.',
    all: ['GET /webhooks', 'GET /webhooks/health'],
    own: ['GET /webhooks/:id', 'GET /webhooks/:id/deliveries', 'GET /webhooks/:id/deliveries/:deliveryId'],
  },
  // A webhook that is activated continues its deliveries.
  {
    types: 'webhook.',
    all: ['GET /webhooks', 'GET /webhooks/events', 'GET /webhooks/health'],
    own: ['GET /webhooks/:id', 'GET /webhooks/:id/deliveries'],
  },
  {
    types: 'event_endpoint.',
    all: ['GET /event-endpoints'],
    own: ['GET /event-endpoints/:id', 'GET /event-endpoints/:id/deliveries/:deliveryId'],
  },
  {
    types: 'connection.',
    all: [
      'GET /connections',
      'GET /connections/:id',
      'GET /connections/:id/tools',
      'GET /connections/:id/endpoints',
      'GET /agents/:id/consents',
    ],
  },
  { types: 'connector.', all: ['GET /connections'], own: ['GET /connections/:id/endpoints/:endpointId/events'] },
  {
    types: 'balance.',
    all: ['GET /billing', 'GET /billing/transactions', 'GET /billing/statements', 'GET /billing/receipts'],
  },
  {
    types: 'member.',
    all: ['GET /members', 'GET /workspaces', 'GET /workspaces/:id/members', 'GET /me', 'session'],
  },
  { types: 'org.', all: ['GET /org', 'GET /me', 'session'] },
  { types: 'workspace.', all: ['GET /workspaces', 'GET /workspaces/:id/members', 'GET /me'] },
  { types: 'api_key.', all: ['GET /api-keys'] },
]

/** Any event is in the log, and can be the reason for a delivery, which is queued with it. */
const always: readonly Target[] = ['GET /events', 'GET /event-endpoints/:id/deliveries']

/** `workspaceId`: that of the tab; undefined when it is not known yet. */
export const affectedBy = ({ type, workspaceId: of }: Event, workspaceId: string | undefined): Affected => {
  const { all = [], own = [], ofWorkspace }: Rule = rules.find(({ types }) => type.startsWith(types)) ?? { types: '' }
  const isElsewhere = of !== null && workspaceId !== undefined && of !== workspaceId
  return ofWorkspace && isElsewhere ? { all: always, own: [] } : { all: [...always, ...all], own }
}

/** The values of an event that can be the ID of a resource in a request. */
export const idsOf = ({ subject, data }: Event): string[] => [
  subject.id,
  ...Object.values(data).filter((value) => typeof value === 'string'),
]
