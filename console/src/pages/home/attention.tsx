import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { read } from '../../api.ts'
import { formatCents, formatDateTime } from '../../format.ts'
import { useIdentity } from '../../session.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import styles from './home.module.css'

interface AttentionItem {
  key: string
  text: ReactNode
  action: string
  to: string
}

const useAttentionItems = (): AttentionItem[] => {
  const { session, me, can } = useIdentity()
  const { hasPassword, twoFactorEnabled } = session.user
  const sessions = useQuery({
    ...read('GET /sessions', { query: { limit: 50 } }),
    enabled: can('sessions:read') && me.workspace !== null,
  })
  const connections = useQuery({ ...read('GET /connections'), enabled: can('connections:read') })
  const webhooks = useQuery({ ...read('GET /webhooks'), enabled: can('webhooks:read') })
  const health = useQuery({ ...read('GET /webhooks/health'), enabled: can('webhooks:read') })
  const endpoints = useQuery({ ...read('GET /event-endpoints'), enabled: can('webhooks:read') })
  const billing = useQuery({ ...read('GET /billing'), enabled: can('billing:read') })
  const items: AttentionItem[] = []
  if (!hasPassword) {
    items.push({
      key: 'password',
      text: t`Set a password to sign in again and to confirm sensitive changes.`,
      action: t`Set password`,
      to: '/settings/profile',
    })
  } else if (!twoFactorEnabled && (me.role === 'owner' || me.role === 'admin')) {
    items.push({
      key: 'two-factor',
      text: t`Your account has full access and is protected by a password only.`,
      action: t`Turn on two-factor`,
      to: '/settings/profile',
    })
  }
  for (const { id, title, participants } of sessions.data?.items.filter(({ status }) => status === 'requires_action') ??
    []) {
    const agent = participants.find(({ type }) => type === 'agent')
    items.push({
      key: id,
      text: (
        <>
          {title === null ? (
            <Trans>
              <strong>{agent?.name ?? t`An agent`}</strong> needs action.
            </Trans>
          ) : (
            <Trans>
              <strong>{agent?.name ?? t`An agent`}</strong> needs action in “{title}”.
            </Trans>
          )}
        </>
      ),
      action: t`Review`,
      to: `/chat/${id}`,
    })
  }
  for (const { id, connectorSlug, label, lastError } of connections.data?.items.filter(
    ({ status }) => status === 'error',
  ) ?? []) {
    items.push({
      key: id,
      text: (
        <>
          <Trans>
            The connection <strong>{label ?? connectorSlug}</strong> failed
          </Trans>
          {lastError !== null && `: ${lastError}`}
        </>
      ),
      action: t`Reconnect`,
      to: '/connections',
    })
  }
  for (const { id, name, statusReason } of webhooks.data?.items.filter(({ status }) => status === 'disabled') ?? []) {
    items.push({
      key: id,
      text: (
        <>
          <Trans>
            The webhook <strong>{name}</strong> is disabled
          </Trans>
          {statusReason !== null && `: ${statusReason}`}
        </>
      ),
      action: t`View webhook`,
      to: `/webhooks/${id}`,
    })
  }
  for (const { id, failingSince } of health.data?.items ?? []) {
    const webhook = webhooks.data?.items.find((one) => one.id === id)
    if (failingSince === null || webhook?.status !== 'active') continue
    items.push({
      key: `failing-${id}`,
      text: (
        <Trans>
          All deliveries of the webhook <strong>{webhook.name}</strong> have failed since {formatDateTime(failingSince)}
          .
        </Trans>
      ),
      action: t`View deliveries`,
      to: `/webhooks/${id}/deliveries`,
    })
  }
  for (const { id, name, status, statusReason, failingSince } of endpoints.data?.items ?? []) {
    if (status === 'active' && statusReason === null && failingSince !== null) {
      items.push({
        key: `failing-${id}`,
        text: (
          <Trans>
            All deliveries to the event endpoint <strong>{name}</strong> have failed since{' '}
            {formatDateTime(failingSince)}.
          </Trans>
        ),
        action: t`View endpoint`,
        to: `/events/endpoints/${id}`,
      })
    }
    if (status === 'paused' || statusReason === null) continue
    items.push({
      key: id,
      text: (
        <>
          <Trans>
            The event endpoint <strong>{name}</strong> receives no events: {statusReason}
          </Trans>
        </>
      ),
      action: t`View endpoint`,
      to: `/events/endpoints/${id}`,
    })
  }
  if (billing.data?.payment.billingEnforced === true && billing.data.balance.balanceCents <= 0) {
    items.push({
      key: 'balance',
      text: t`The balance is ${formatCents(billing.data.balance.balanceCents)}. Add funds to use paid models.`,
      action: t`Add funds`,
      to: '/billing',
    })
  }
  return items
}

/** Items that need action, with links; renders nothing when there are none. */
export const Attention = () => {
  const items = useAttentionItems()
  if (items.length === 0) return null
  return (
    <section className={styles['attention']} aria-label={t`Needs attention`}>
      {items.map(({ key, text, action, to }) => (
        <div key={key} className={styles['notice']}>
          <TriangleAlert aria-hidden="true" />
          <p>{text}</p>
          <ButtonLink small to={to}>
            {action}
          </ButtonLink>
        </div>
      ))}
    </section>
  )
}
