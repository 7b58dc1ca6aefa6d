import { Trans } from '@lingui/react/macro'
import type { EventEndpoint } from '@atrium/client'
import { Status } from '../../../ui/data/status.tsx'
import { WebhookState } from '../../webhooks/webhook-state.tsx'

/** The status, or what keeps an active endpoint from delivering. */
export const EndpointState = ({ of: { status, statusReason, failingSince } }: { of: EventEndpoint }) => {
  if (status === 'active' && statusReason !== null)
    return (
      <Status tone="bad">
        <Trans>Not delivering</Trans>
      </Status>
    )
  if (status === 'active' && failingSince !== null)
    return (
      <Status tone="bad">
        <Trans>Failing</Trans>
      </Status>
    )
  return <WebhookState of={status} />
}
