import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { read } from '../../api.ts'
import { formatCents } from '../../format.ts'
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
  const billing = useQuery({ ...read('GET /billing'), enabled: can('billing:read') })
  const items: AttentionItem[] = []
  if (!hasPassword) {
    items.push({
      key: 'password',
      text: 'You have no password yet. Without one you cannot sign in again, nor confirm sensitive changes.',
      action: 'Set a password',
      to: '/settings/profile',
    })
  } else if (!twoFactorEnabled && (me.role === 'owner' || me.role === 'admin')) {
    items.push({
      key: 'two-factor',
      text: `You can change everything in ${me.org.name}, and your password alone protects that.`,
      action: 'Turn on two-factor',
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
          <strong>{agent?.name ?? 'An agent'}</strong> needs a decision{title !== null && ` in “${title}”`}.
        </>
      ),
      action: 'Decide',
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
          The connection <strong>{label ?? connectorSlug}</strong> does not work any more
          {lastError !== null && `: ${lastError}`}
        </>
      ),
      action: 'Reconnect',
      to: '/connections',
    })
  }
  for (const { id, name, statusReason } of webhooks.data?.items.filter(({ status }) => status === 'disabled') ?? []) {
    items.push({
      key: id,
      text: (
        <>
          The webhook <strong>{name}</strong> is switched off{statusReason !== null && `: ${statusReason}`}
        </>
      ),
      action: 'Look at it',
      to: `/webhooks/${id}`,
    })
  }
  if (billing.data?.payment.billingEnforced === true && billing.data.balance.balanceCents <= 0) {
    items.push({
      key: 'balance',
      text: `The balance is ${formatCents(billing.data.balance.balanceCents)}: paid models do not answer.`,
      action: 'Add money',
      to: '/billing',
    })
  }
  return items
}

/** What somebody has to do something about, and the way there. Nothing, when there is nothing. */
export const Attention = () => {
  const items = useAttentionItems()
  if (items.length === 0) return null
  return (
    <section className={styles['attention']} aria-label="Needs attention">
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
