import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Data } from '@atrium/client'
import type { ReactNode } from 'react'
import { read } from '../../api.ts'
import { formatCents, formatDateTime } from '../../format.ts'
import { apiText } from '../../i18n/language.ts'
import { useIdentity } from '../../session.tsx'
import type { Identity } from '../../session.tsx'

export interface AttentionItem {
  key: string
  text: ReactNode
  action: string
  to: string
}

const accountItems = ({ session, me }: Identity): AttentionItem[] => {
  const { hasPassword, twoFactorEnabled } = session.user
  if (!hasPassword) {
    return [
      {
        key: 'password',
        text: t`Set a password to sign in again and to confirm sensitive changes.`,
        action: t`Set password`,
        to: '/settings/profile',
      },
    ]
  }
  if (twoFactorEnabled || (me.role !== 'owner' && me.role !== 'admin')) return []
  return [
    {
      key: 'two-factor',
      text: t`Your account has full access and is protected by a password only.`,
      action: t`Turn on two-factor`,
      to: '/settings/profile',
    },
  ]
}

const sessionItem = ({ id, title, participants }: Data<'GET /sessions'>['items'][number]): AttentionItem => {
  const agent = participants.find(({ type }) => type === 'agent')?.name ?? t`An agent`
  return {
    key: id,
    text:
      title === null ? (
        <Trans>
          <strong>{agent}</strong> needs action.
        </Trans>
      ) : (
        <Trans>
          <strong>{agent}</strong> needs action in “{title}”.
        </Trans>
      ),
    action: t`Review`,
    to: `/chat/${id}`,
  }
}

const connectionItem = ({
  id,
  connectorSlug,
  label,
  lastError,
}: Data<'GET /connections'>['items'][number]): AttentionItem => {
  const name = label ?? connectorSlug
  return {
    key: id,
    text: (
      <>
        <Trans>
          The connection <strong>{name}</strong> failed
        </Trans>
        {lastError !== null && `: ${apiText(lastError)}`}
      </>
    ),
    action: t`Reconnect`,
    to: '/connections',
  }
}

const webhookItems = (
  webhooks: Data<'GET /webhooks'>['items'],
  health: Data<'GET /webhooks/health'>['items'],
): AttentionItem[] =>
  webhooks.flatMap(({ id, name, status, statusReason }): AttentionItem[] => {
    if (status === 'disabled') {
      const text = (
        <>
          <Trans>
            The webhook <strong>{name}</strong> is disabled
          </Trans>
          {statusReason !== null && `: ${apiText(statusReason)}`}
        </>
      )
      return [{ key: id, text, action: t`View webhook`, to: `/webhooks/${id}` }]
    }
    const failingSince = health.find((one) => one.id === id)?.failingSince ?? null
    if (status === 'paused' || failingSince === null) return []
    const text = (
      <Trans>
        All deliveries of the webhook <strong>{name}</strong> have failed since {formatDateTime(failingSince)}.
      </Trans>
    )
    return [{ key: id, text, action: t`View deliveries`, to: `/webhooks/${id}/deliveries` }]
  })

const endpointItems = (endpoints: Data<'GET /event-endpoints'>['items']): AttentionItem[] =>
  endpoints.flatMap(({ id, name, status, statusReason, failingSince }): AttentionItem[] => {
    if (status === 'paused' || (statusReason === null && failingSince === null)) return []
    const reason = apiText(statusReason ?? '')
    const text =
      statusReason === null && failingSince !== null ? (
        <Trans>
          All deliveries to the event endpoint <strong>{name}</strong> have failed since {formatDateTime(failingSince)}.
        </Trans>
      ) : (
        <Trans>
          The event endpoint <strong>{name}</strong> receives no events: {reason}
        </Trans>
      )
    return [{ key: id, text, action: t`View endpoint`, to: `/events/endpoints/${id}` }]
  })

const billingItems = ({ payment, balance }: Data<'GET /billing'>): AttentionItem[] =>
  payment.billingEnforced && balance.balanceCents <= 0
    ? [
        {
          key: 'balance',
          text: t`The balance is ${formatCents(balance.balanceCents)}. Add funds to use paid models.`,
          action: t`Add funds`,
          to: '/billing',
        },
      ]
    : []

/** What needs action by this person. Empty for what is still loading or failed to load. */
export const useAttentionItems = (): AttentionItem[] => {
  const identity = useIdentity()
  const { can, me } = identity
  const sessions = useQuery({
    ...read('GET /sessions', { query: { limit: 50 } }),
    enabled: can('sessions:read') && me.workspace !== null,
  })
  const connections = useQuery({ ...read('GET /connections'), enabled: can('connections:read') })
  const webhooks = useQuery({ ...read('GET /webhooks'), enabled: can('webhooks:read') })
  const health = useQuery({ ...read('GET /webhooks/health'), enabled: can('webhooks:read') })
  const endpoints = useQuery({ ...read('GET /event-endpoints'), enabled: can('webhooks:read') })
  const billing = useQuery({ ...read('GET /billing'), enabled: can('billing:read') })
  return [
    ...accountItems(identity),
    ...(sessions.data?.items ?? []).filter(({ status }) => status === 'requires_action').map(sessionItem),
    ...(connections.data?.items ?? []).filter(({ status }) => status === 'error').map(connectionItem),
    ...webhookItems(webhooks.data?.items ?? [], health.data?.items ?? []),
    ...endpointItems(endpoints.data?.items ?? []),
    ...(billing.data ? billingItems(billing.data) : []),
  ]
}
