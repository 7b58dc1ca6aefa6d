import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg } from '@lingui/core/macro'
import type { Webhook } from '@atrium/client'
import type { Tone } from '../../ui/data/badge.tsx'
import { Status } from '../../ui/data/status.tsx'

const states: Record<Webhook['status'], { tone: Tone; word: Text }> = {
  active: { tone: 'good', word: msg`Active` },
  paused: { tone: 'warn', word: msg`Paused` },
  disabled: { tone: 'bad', word: msg`Disabled` },
}

/** The status of a webhook or of an event endpoint. */
export const WebhookState = ({ of }: { of: Webhook['status'] }) => (
  <Status tone={states[of].tone}>{textOf(states[of].word)}</Status>
)
