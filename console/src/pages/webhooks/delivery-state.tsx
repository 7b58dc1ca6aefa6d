import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg } from '@lingui/core/macro'
import type { Delivery } from '@atrium/client'
import { Badge } from '../../ui/data/badge.tsx'
import type { Tone } from '../../ui/data/badge.tsx'

const states: Record<Delivery['status'], { tone: Tone; word: Text }> = {
  pending: { tone: 'info', word: msg`Pending` },
  sending: { tone: 'info', word: msg`Sending` },
  succeeded: { tone: 'good', word: msg`Succeeded` },
  failed: { tone: 'bad', word: msg`Failed` },
  held: { tone: 'warn', word: msg`Paused` },
}

/** Whether an attempt is made or due, as far as the server knows. */
export const isUnfinished = ({ status }: Pick<Delivery, 'status'>): boolean =>
  status === 'pending' || status === 'sending'

export const DeliveryState = ({ of }: { of: Delivery['status'] }) => (
  <Badge tone={states[of].tone}>{textOf(states[of].word)}</Badge>
)
