import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { BillingSnapshot } from '@atrium/client'
import { Plus, Ticket } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { api, read, refresh } from '../../api.ts'
import { formatCents, formatDateTime, formatMicrocents, formatNumber } from '../../format.ts'
import { formatWord } from '../../words.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { Section } from '../../ui/page.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { useManageReason } from './billing.tsx'
import styles from './billing.module.css'
import { DepositDialog } from './deposit-dialog.tsx'
import { AutoTopUp, MonthlyLimit } from './top-up.tsx'
import { TransactionTable } from './transaction-table.tsx'

const RedeemDialog = ({ onClose }: { onClose: () => void }) => {
  const [code, setCode] = useState('')
  const problem = code.trim() === '' && t`Enter a code.`
  const form = useSubmit(async () => {
    const { amountCents } = await api.call('POST /billing/promotions/redeem', { body: { code: code.trim() } })
    await refresh('GET /billing', 'GET /billing/transactions')
    toast.done(t`${formatCents(amountCents)} credit added`)
    onClose()
  })
  return (
    <FormDialog onClose={onClose} title={t`Redeem code`} form={form} action={t`Redeem`} disabledReason={problem}>
      <TextField
        label={t`Code`}
        field="code"
        autoComplete="off"
        spellCheck={false}
        value={code}
        onChange={({ target }) => setCode(target.value)}
      />
    </FormDialog>
  )
}

const Figure = ({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) => (
  <div className={styles['figure']}>
    <span>{label}</span>
    <strong>{value}</strong>
    {note !== undefined && <small>{note}</small>}
  </div>
)

const depositReason = ({ payment }: BillingSnapshot, off: string | false): string | false => {
  if (off !== false) return off
  return (
    !payment.paymentProviderConfigured &&
    !payment.directDepositAvailable &&
    t`This server has no payment provider. Ask its operator to configure one.`
  )
}

const Balance = ({ snapshot }: { snapshot: BillingSnapshot }) => {
  const off = useManageReason()
  const [asking, setAsking] = useState<'deposit' | 'redeem'>()
  const { balance, payment, promotions } = snapshot
  const isLow = payment.billingEnforced && balance.balanceCents <= 0
  return (
    <div className={styles['balance']}>
      <div>
        <span className={styles['label']}>
          <Trans>Balance</Trans>
        </span>
        <strong className={styles['amount']}>{formatCents(balance.balanceCents)}</strong>
        <p>
          {payment.billingEnforced
            ? t`Paid models stop working when the balance is used up.`
            : t`The balance can be negative: this server does not enforce payment.`}
          {balance.reservedMicrocents > 0 && (
            <>
              {' '}
              <Trans>{formatMicrocents(balance.reservedMicrocents)} reserved for running turns.</Trans>
            </>
          )}
        </p>
      </div>
      <div className={styles['balanceActions']}>
        <Button
          variant="primary"
          icon={<Plus />}
          disabledReason={depositReason(snapshot, off)}
          onClick={() => setAsking('deposit')}
        >
          <Trans>Add funds</Trans>
        </Button>
        <Button icon={<Ticket />} disabledReason={off} onClick={() => setAsking('redeem')}>
          <Trans>Redeem code</Trans>
        </Button>
      </div>
      {isLow && (
        <Notice tone="warn">
          <Trans>The balance is used up. Add funds to use paid models.</Trans>
        </Notice>
      )}
      {promotions.map(({ id, code, remainingCents, expiresAt }) => (
        <Notice key={id} tone="good">
          <span>
            {expiresAt === null ? (
              <Trans>
                <strong>{code}</strong>: {formatCents(remainingCents)} left.
              </Trans>
            ) : (
              <Trans>
                <strong>{code}</strong>: {formatCents(remainingCents)} left, until {formatDateTime(expiresAt)}.
              </Trans>
            )}
          </span>
        </Notice>
      ))}
      {asking === 'deposit' && (
        <DepositDialog isDirect={!payment.paymentProviderConfigured} onClose={() => setAsking(undefined)} />
      )}
      {asking === 'redeem' && <RedeemDialog onClose={() => setAsking(undefined)} />}
    </div>
  )
}

type PlanProps = Pick<BillingSnapshot, 'subscription'> & Partial<Pick<BillingSnapshot, 'replacedPlans'>>

// A server of the previous version, during an upgrade, returns no replaced plans.
const Plan = ({ subscription, replacedPlans = [] }: PlanProps) => (
  <Section
    title={t`Plan`}
    actions={
      <ButtonLink small variant="quiet" to="/billing/plans">
        <Trans>View plans</Trans>
      </ButtonLink>
    }
  >
    {subscription ? (
      <p className={styles['planLine']}>
        <strong>{subscription.planName}</strong>
        <Badge tone={subscription.status === 'active' ? 'good' : 'warn'}>{formatWord(subscription.status)}</Badge>
        {subscription.currentPeriodEnd !== null && (
          <span>
            {subscription.cancelAtPeriodEnd
              ? t`ends ${formatDateTime(subscription.currentPeriodEnd)}`
              : t`renews ${formatDateTime(subscription.currentPeriodEnd)}`}
          </span>
        )}
      </p>
    ) : (
      <p className={styles['planLine']}>
        <strong>
          <Trans>Free</Trans>
        </strong>{' '}
        <span>
          <Trans>Pay as you go from the balance.</Trans>
        </span>
      </p>
    )}
    {replacedPlans
      .filter(({ state }) => state === 'failed')
      .map(({ planName, since }) => (
        <Notice key={since} tone="warn">
          <Trans>
            Stripe has not canceled or refunded the replaced plan {planName} since {formatDateTime(since)}. Ask the
            operator of this server.
          </Trans>
        </Notice>
      ))}
  </Section>
)

const Month = ({ usage: { currentMonth }, waiver }: Pick<BillingSnapshot, 'usage' | 'waiver'>) => (
  <div className={styles['figures']}>
    <Figure
      label={t`Charged this month`}
      value={formatMicrocents(currentMonth.totalChargedMicrocents)}
      note={
        <Link to="/billing/spending">
          <Trans>View spending</Trans>
        </Link>
      }
    />
    <Figure
      label={t`Model calls`}
      value={formatNumber(currentMonth.requestCount)}
      note={t`${formatNumber(currentMonth.totalTokens)} tokens`}
    />
    <Figure
      label={t`Platform fee`}
      value={waiver.active ? t`Waived` : formatMicrocents(currentMonth.platformFeeMicrocents)}
      note={waiver.active ? t`for the next ${formatCents(waiver.remainingCents)} of deposits` : t`this month`}
    />
  </div>
)

const checkoutMessages: Record<string, { tone: 'good' | 'info'; text: Text }> = {
  success: { tone: 'good', text: msg`Payment submitted. The balance updates when the provider confirms it.` },
  cancelled: { tone: 'info', text: msg`Payment cancelled. You were not charged.` },
  cancel: { tone: 'info', text: msg`Payment cancelled. You were not charged.` },
}

export const Overview = () => {
  const [params] = useSearchParams()
  const back = checkoutMessages[params.get('checkout') ?? '']
  const fallback = useFallbackPolling()
  const billing = useQuery({
    ...read('GET /billing'),
    // That a plan was paid is not an event. The provider confirms it within seconds.
    refetchInterval: params.get('checkout') === 'success' ? 3_000 : fallback,
  })
  return (
    <QueryBoundary query={billing}>
      {(snapshot) => (
        <>
          {back && (
            <div className={styles['back']}>
              <Notice tone={back.tone}>{textOf(back.text)}</Notice>
            </div>
          )}
          <Balance snapshot={snapshot} />
          <Month usage={snapshot.usage} waiver={snapshot.waiver} />
          <div className={styles['columns']}>
            <div>
              <AutoTopUp snapshot={snapshot} />
              <MonthlyLimit snapshot={snapshot} />
            </div>
            <div>
              <Plan subscription={snapshot.subscription} replacedPlans={snapshot.replacedPlans} />
              <Section
                plain
                title={t`Recent transactions`}
                description={t`In whole cents. A rest below a cent is charged with later usage.`}
                actions={
                  <ButtonLink small variant="quiet" to="/billing/transactions">
                    <Trans>View all</Trans>
                  </ButtonLink>
                }
              >
                {snapshot.transactions.length === 0 ? (
                  <EmptyState compact title={t`No transactions yet`} />
                ) : (
                  <TransactionTable items={snapshot.transactions.slice(0, 6)} short />
                )}
              </Section>
            </div>
          </div>
        </>
      )}
    </QueryBoundary>
  )
}
