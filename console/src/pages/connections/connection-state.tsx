import type { Connection } from '@atrium/client'
import { Badge } from '../../ui/data/badge.tsx'
import type { Tone } from '../../ui/data/badge.tsx'

const states: Record<Connection['status'], { tone: Tone; word: string }> = {
  pending: { tone: 'info', word: 'Pending' },
  active: { tone: 'good', word: 'Connected' },
  error: { tone: 'bad', word: 'Needs attention' },
  expired: { tone: 'warn', word: 'Expired' },
  revoked: { tone: 'neutral', word: 'Revoked' },
}

export const ConnectionState = ({ of }: { of: Connection['status'] }) => (
  <Badge tone={states[of].tone}>{states[of].word}</Badge>
)

export const titleOf = (connection: Connection, connectorName: string): string =>
  connection.label === null ? connectorName : `${connectorName}: ${connection.label}`
