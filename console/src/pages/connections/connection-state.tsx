import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg } from '@lingui/core/macro'
import type { Connection } from '@atrium/client'
import { Badge } from '../../ui/data/badge.tsx'
import type { Tone } from '../../ui/data/badge.tsx'

const states: Record<Connection['status'], { tone: Tone; word: Text }> = {
  pending: { tone: 'info', word: msg`Pending` },
  active: { tone: 'good', word: msg`Connected` },
  error: { tone: 'bad', word: msg`Needs attention` },
  expired: { tone: 'warn', word: msg`Expired` },
  revoked: { tone: 'neutral', word: msg`Revoked` },
}

export const ConnectionState = ({ of }: { of: Connection['status'] }) => (
  <Badge tone={states[of].tone}>{textOf(states[of].word)}</Badge>
)

export const titleOf = (connection: Connection, connectorName: string): string =>
  connection.label === null ? connectorName : `${connectorName}: ${connection.label}`
