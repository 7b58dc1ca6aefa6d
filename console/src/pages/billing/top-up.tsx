import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { BillingSnapshot } from '@atrium/client'
import { apiText } from '../../i18n/language.ts'
import { api, refresh } from '../../api.ts'
import { changesOf, isEmpty, useDraft } from '../../draft.ts'
import { formatCents, formatDateTime, formatMicrocents } from '../../format.ts'
import { formatWord } from '../../words.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { FieldRow, SwitchField, TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { useManageReason } from './billing.tsx'
import styles from './billing.module.css'
import { amountProblem, anyAmount, centsOf, dollarsOf } from '../../money.ts'

const optionalProblem = (text: string): string | undefined =>
  text.trim() === '' ? undefined : amountProblem(text, 100, anyAmount)

const limitOf = (cents: number | null): string => (cents === null ? '' : dollarsOf(cents))

const outcomes = { succeeded: 'good', declined: 'bad', failed: 'bad', due: 'info', processing: 'info' } as const

const Recent = ({ recent }: { recent: BillingSnapshot['autoTopup']['recent'] }) => (
  <Table
    label={t`Recent top-ups`}
    rows={recent}
    keyOf={({ id }) => id}
    columns={[
      { title: t`Date`, cell: ({ createdAt }) => formatDateTime(createdAt) },
      {
        title: t`Status`,
        cell: ({ state, failureMessage }) => (
          <>
            <Badge tone={outcomes[state]}>{formatWord(state)}</Badge> {failureMessage && apiText(failureMessage)}
          </>
        ),
      },
      { title: t`Amount`, align: 'end', cell: ({ amountCents }) => formatCents(amountCents) },
    ]}
  />
)

const topUpOf = ({ balance, autoTopup }: BillingSnapshot) => ({
  enabled: balance.autoTopupEnabled,
  threshold: dollarsOf(balance.autoTopupThresholdCents),
  amount: dollarsOf(balance.autoTopupAmountCents),
  cap: limitOf(autoTopup.monthlyCapCents),
})

const bodyOf = ({ enabled, threshold, amount, cap }: ReturnType<typeof topUpOf>) => ({
  autoTopupEnabled: enabled,
  autoTopupThresholdCents: centsOf(threshold) ?? 0,
  autoTopupAmountCents: centsOf(amount) ?? 0,
  autoTopupMonthlyCapCents: cap.trim() === '' ? null : (centsOf(cap) ?? null),
})

export const AutoTopUp = ({ snapshot }: { snapshot: BillingSnapshot }) => {
  const off = useManageReason()
  const { autoTopup } = snapshot
  const { draft, change: set } = useDraft(snapshot, topUpOf)
  const body = changesOf(bodyOf(draft), bodyOf(topUpOf(snapshot)))
  const problems = {
    threshold: amountProblem(draft.threshold, 100, anyAmount),
    amount: amountProblem(draft.amount, 100, anyAmount),
    cap: optionalProblem(draft.cap),
  }
  const problem =
    off || (Object.values(problems).find((one) => one !== undefined) ?? (isEmpty(body) && t`Nothing has changed.`))
  const { busy, error, submit } = useSubmit(async () => {
    if (typeof problem === 'string') return
    await api.call('PATCH /billing', { body })
    await refresh('GET /billing')
    toast.done(t`Saved`)
  })
  return (
    <Section
      title={t`Automatic top-up`}
      description={t`Charges the saved card when the balance falls below a threshold.`}
    >
      <Form className={styles['form']} error={error} onSubmit={submit}>
        <SwitchField
          label={t`Enable automatic top-up`}
          hint={apiText(autoTopup.reason)}
          checked={draft.enabled}
          onChange={({ target }) => set({ enabled: target.checked })}
        />
        {draft.enabled && !autoTopup.hasPaymentMethod && (
          <Notice tone="warn">
            <Trans>No card is saved. Add funds through the payment provider to save one.</Trans>
          </Notice>
        )}
        {draft.enabled && (
          <FieldRow>
            <TextField
              label={t`When the balance falls below`}
              field="autoTopupThresholdCents"
              inputMode="decimal"
              value={draft.threshold}
              error={problems.threshold}
              hint={t`US dollars`}
              onChange={({ target }) => set({ threshold: target.value })}
            />
            <TextField
              label={t`Amount to add`}
              field="autoTopupAmountCents"
              inputMode="decimal"
              value={draft.amount}
              error={problems.amount}
              hint={t`US dollars`}
              onChange={({ target }) => set({ amount: target.value })}
            />
            <TextField
              label={t`Monthly limit`}
              field="autoTopupMonthlyCapCents"
              optional
              inputMode="decimal"
              value={draft.cap}
              error={problems.cap}
              hint={t`${formatCents(autoTopup.chargedThisMonthCents)} topped up this month.`}
              onChange={({ target }) => set({ cap: target.value })}
            />
          </FieldRow>
        )}
        <FormError />
        <div>
          <Button type="submit" busy={busy} disabledReason={problem}>
            <Trans>Save</Trans>
          </Button>
        </div>
      </Form>
      {autoTopup.recent.length > 0 && <Recent recent={autoTopup.recent} />}
    </Section>
  )
}

const capOf = ({ limits }: BillingSnapshot) => ({ cap: limitOf(limits.org.monthlyCapCents) })

export const MonthlyLimit = ({ snapshot }: { snapshot: BillingSnapshot }) => {
  const off = useManageReason()
  const { org } = snapshot.limits
  const { draft, change } = useDraft(snapshot, capOf)
  const { cap } = draft
  const problem = optionalProblem(cap)
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== undefined || off !== false) return
    const monthlyCapCents = cap.trim() === '' ? null : (centsOf(cap) ?? null)
    await api.call('PATCH /billing', { body: { monthlyCapCents } })
    await refresh('GET /billing')
    toast.done(t`Saved`)
  })
  return (
    <Section
      title={t`Monthly limit`}
      description={t`When the limit is reached, paid models are unavailable until the next month.`}
    >
      {org.state === 'reached' && (
        <Notice tone="bad">
          <Trans>Monthly limit reached.</Trans>
        </Notice>
      )}
      {org.state === 'near' && (
        <Notice tone="warn">
          <Trans>More than 80 % of the monthly limit is used.</Trans>
        </Notice>
      )}
      <Form className={styles['inline']} error={error} onSubmit={submit}>
        <TextField
          label={t`Limit in US dollars`}
          field="monthlyCapCents"
          optional
          inputMode="decimal"
          value={cap}
          error={problem}
          hint={t`${formatMicrocents(org.chargedThisMonthMicrocents)} charged this month. Leave empty for no limit.`}
          onChange={({ target }) => change({ cap: target.value })}
        />
        <Button type="submit" busy={busy} disabledReason={off || problem}>
          <Trans>Save</Trans>
        </Button>
        <FormError />
      </Form>
    </Section>
  )
}
