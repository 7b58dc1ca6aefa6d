import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { BillingSnapshot, PaymentReceipt, StatementList } from '@atrium/client'
import { ReceiptText } from 'lucide-react'
import { api, read, refresh, usePages } from '../../api.ts'
import { changesOf, isEmpty, useDraft } from '../../draft.ts'
import { formatCents, formatDateTime, formatUtcMonth } from '../../format.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { Table } from '../../ui/data/table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { FieldRow, TextArea, TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Section } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { toast } from '../../ui/toast.tsx'
import { useManageReason } from './billing.tsx'
import styles from './billing.module.css'
import { DocumentLinks, receiptPath } from './document-links.tsx'

type Summary = StatementList['items'][number]

const nameOf = ({ month }: Summary): string => t`statement for ${formatUtcMonth(`${month}-01`)}`

const Statements = () => {
  const { query, more, isLoadingMore } = usePages('GET /billing/statements')
  return (
    <Section
      plain
      title={t`Statements`}
      description={t`How the balance changed in each month (UTC). The month that is not over is provisional.`}
    >
      <QueryBoundary query={query}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState compact icon={<ReceiptText />} title={t`No statements yet`}>
              <Trans>The first deposit or paid model call starts one.</Trans>
            </EmptyState>
          ) : (
            <Table
              label={t`Statements`}
              rows={items}
              keyOf={({ month }) => month}
              columns={[
                {
                  title: t`Month`,
                  cell: ({ month, provisional }) => (
                    <>
                      {formatUtcMonth(`${month}-01`)}{' '}
                      {provisional && (
                        <Badge>
                          <Trans>Provisional</Trans>
                        </Badge>
                      )}
                    </>
                  ),
                },
                {
                  title: t`Opening balance`,
                  align: 'end',
                  optional: true,
                  cell: ({ openingBalanceCents }) => formatCents(openingBalanceCents),
                },
                {
                  title: t`Deposits and credits`,
                  align: 'end',
                  optional: true,
                  cell: ({ depositsCents, refundsCents, adjustmentsCents }) =>
                    formatCents(depositsCents + refundsCents + adjustmentsCents),
                },
                { title: t`Usage`, align: 'end', optional: true, cell: ({ usageCents }) => formatCents(usageCents) },
                {
                  title: t`Closing balance`,
                  align: 'end',
                  cell: ({ closingBalanceCents }) => formatCents(closingBalanceCents),
                },
                {
                  title: t`Documents`,
                  hideTitle: true,
                  align: 'end',
                  tight: true,
                  cell: (item) => <DocumentLinks path={`/billing/statements/${item.month}`} name={nameOf(item)} />,
                },
              ]}
            />
          )
        }
      </QueryBoundary>
      <LoadMore more={more} isLoadingMore={isLoadingMore} />
    </Section>
  )
}

const purposeOf = ({ kind }: PaymentReceipt): string =>
  ({ deposit: t`Deposit`, topup: t`Automatic top-up`, plan: t`Monthly plan`, direct: t`Deposit without a payment` })[
    kind
  ]

const amountOf = ({ kind, paidCents, creditedCents }: PaymentReceipt): number =>
  kind === 'direct' ? creditedCents : paidCents

const Receipts = () => {
  const { query, more, isLoadingMore } = usePages('GET /billing/receipts')
  return (
    <Section plain title={t`Receipts`} description={t`One for each payment and each deposit.`}>
      <QueryBoundary query={query}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState compact icon={<ReceiptText />} title={t`No receipts yet`}>
              <Trans>Payments and deposits appear here.</Trans>
            </EmptyState>
          ) : (
            <Table
              label={t`Receipts`}
              rows={items}
              keyOf={({ paymentIntentId }) => paymentIntentId}
              columns={[
                { title: t`Date`, cell: ({ createdAt }) => formatDateTime(createdAt) },
                { title: t`Number`, optional: true, cell: ({ number }) => number },
                { title: t`Payment`, optional: true, cell: purposeOf },
                { title: t`Amount`, align: 'end', cell: (item) => formatCents(amountOf(item)) },
                {
                  title: t`Documents`,
                  hideTitle: true,
                  align: 'end',
                  tight: true,
                  cell: ({ paymentIntentId, number }) => (
                    <DocumentLinks path={receiptPath(paymentIntentId)} name={t`receipt ${number}`} />
                  ),
                },
              ]}
            />
          )
        }
      </QueryBoundary>
      <LoadMore more={more} isLoadingMore={isLoadingMore} />
    </Section>
  )
}

const detailsOf = ({ name, address, taxId, email }: BillingSnapshot['billingDetails']) => ({
  name: name ?? '',
  address: address ?? '',
  taxId: taxId ?? '',
  email: email ?? '',
})

const Details = ({ billingDetails }: Pick<BillingSnapshot, 'billingDetails'>) => {
  const off = useManageReason()
  const { draft, change } = useDraft(billingDetails, detailsOf)
  const changes = changesOf(draft, detailsOf(billingDetails))
  const problem = off || (isEmpty(changes) && t`Nothing has changed.`)
  const field = (name: keyof typeof draft) => ({
    field: `billingDetails.${name}`,
    value: draft[name],
    optional: true,
    readOnly: off !== false,
    onChange: ({ target }: { target: { value: string } }) => change({ [name]: target.value }),
  })
  const { busy, error, submit } = useSubmit(async () => {
    if (problem !== false) return
    await api.call('PATCH /billing', { body: { billingDetails: changes } })
    await refresh('GET /billing')
    toast.done(t`Saved`)
  })
  return (
    <Section title={t`Billing details`} description={t`Shown on statements and on the receipts of later payments.`}>
      <Form className={styles['form']} error={error} onSubmit={submit}>
        <FieldRow>
          <TextField
            label={t`Company name`}
            maxLength={200}
            hint={t`Default: the name of the organization.`}
            {...field('name')}
          />
          <TextField label={t`Billing email`} type="email" maxLength={254} {...field('email')} />
        </FieldRow>
        <FieldRow>
          <TextArea label={t`Address`} rows={4} maxLength={500} {...field('address')} />
          <TextField label={t`Tax ID`} maxLength={50} {...field('taxId')} />
        </FieldRow>
        <FormError />
        <div>
          <Button type="submit" busy={busy} disabledReason={problem}>
            <Trans>Save</Trans>
          </Button>
        </div>
      </Form>
    </Section>
  )
}

export const Documents = () => {
  const billing = useQuery(read('GET /billing'))
  return (
    <>
      <Statements />
      <Receipts />
      <QueryBoundary query={billing}>
        {({ billingDetails }) => <Details billingDetails={billingDetails} />}
      </QueryBoundary>
    </>
  )
}
