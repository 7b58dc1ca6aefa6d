import type { Delivery } from '@atrium/client'
import { Badge } from '../../ui/data/badge.tsx'
import type { Tone } from '../../ui/data/badge.tsx'

const states: Record<Delivery['status'], { tone: Tone; word: string }> = {
  pending: { tone: 'info', word: 'Pending' },
  sending: { tone: 'info', word: 'Sending' },
  succeeded: { tone: 'good', word: 'Succeeded' },
  failed: { tone: 'bad', word: 'Failed' },
  held: { tone: 'warn', word: 'Paused' },
}

/** Whether an attempt is made or due, as far as the server knows. */
export const isUnfinished = ({ status }: Pick<Delivery, 'status'>): boolean =>
  status === 'pending' || status === 'sending'

export const DeliveryState = ({ of }: { of: Delivery['status'] }) => (
  <Badge tone={states[of].tone}>{states[of].word}</Badge>
)
