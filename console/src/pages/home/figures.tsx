import { t } from '@lingui/core/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api.ts'
import { formatCents, formatMicrocents, formatNumber } from '../../format.ts'
import { useIdentity } from '../../session.tsx'
import styles from './home.module.css'

/** `value` is undefined while it loads, or when it failed to load. */
const Figure = ({ label, value, to }: { label: string; value: string | undefined; to: string }) => (
  <Link to={to} className={styles['figure']}>
    <span>{label}</span>
    <strong>{value ?? '–'}</strong>
  </Link>
)

/** The state of the org in a few numbers, each with a link to its page. */
export const Figures = () => {
  const { can, me } = useIdentity()
  const [billingOn, webhooksOn] = [can('billing:read'), can('webhooks:read')]
  const sessionsOn = can('sessions:read') && me.workspace !== null
  const billing = useQuery({ ...read('GET /billing'), enabled: billingOn })
  const webhooks = useQuery({ ...read('GET /webhooks/health'), enabled: webhooksOn })
  const endpoints = useQuery({ ...read('GET /event-endpoints'), enabled: webhooksOn })
  const sessions = useQuery({ ...read('GET /sessions', { query: { limit: 50 } }), enabled: sessionsOn })
  if (!billingOn && !webhooksOn && !sessionsOn) return null
  const failing =
    webhooks.data &&
    endpoints.data &&
    [...webhooks.data.items, ...endpoints.data.items].filter(({ failingSince }) => failingSince !== null).length
  const waiting = sessions.data?.items.filter(({ status }) => status === 'requires_action').length
  const balance = billing.data?.balance
  const currentMonth = billing.data?.usage.currentMonth
  return (
    <nav className={styles['figures']} aria-label={t`Overview`}>
      {billingOn && <Figure label={t`Balance`} value={balance && formatCents(balance.balanceCents)} to="/billing" />}
      {billingOn && (
        <Figure
          label={t`Spent this month`}
          value={currentMonth && formatMicrocents(currentMonth.totalChargedMicrocents)}
          to="/billing/spending?period=month"
        />
      )}
      {webhooksOn && (
        <Figure
          label={t`Failing webhooks and endpoints`}
          value={failing === undefined ? undefined : formatNumber(failing)}
          to="/webhooks"
        />
      )}
      {sessionsOn && (
        <Figure
          label={t`Waiting for approval`}
          value={waiting === undefined ? undefined : formatNumber(waiting)}
          to="/chat"
        />
      )}
    </nav>
  )
}
