import type { Webhook } from '@atrium/client'
import type { Tone } from '../../ui/data/badge.tsx'
import { Status } from '../../ui/data/status.tsx'

const states: Record<Webhook['status'], { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'Active' },
  paused: { tone: 'warn', word: 'Paused' },
  disabled: { tone: 'bad', word: 'Disabled' },
}

/** The status of a webhook or of an event endpoint. */
export const WebhookState = ({ of }: { of: Webhook['status'] }) => (
  <Status tone={states[of].tone}>{states[of].word}</Status>
)
