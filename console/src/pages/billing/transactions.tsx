import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Download, ReceiptText } from 'lucide-react'
import { useSearchParams } from 'react-router'
import { api, keyOf, scopeHeaders } from '../../api.ts'
import { retryWhenRateLimited } from '../../rate-limit.ts'
import { formatWord } from '../../words.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './billing.module.css'
import { download, toCsv } from './csv.ts'
import { TransactionTable } from './transaction-table.tsx'
import type { Transaction } from './transaction-table.tsx'

const types: Transaction['type'][] = ['deposit', 'usage', 'platform_fee', 'refund', 'adjustment']

const queryOf = (type: string | undefined, cursor: string | undefined, limit: number) => ({
  limit,
  ...(type !== undefined && { type }),
  ...(cursor !== undefined && { cursor }),
})

const exportAll = async (type: string | undefined): Promise<void> => {
  const items: Transaction[] = []
  let cursor: string | undefined
  const headers = scopeHeaders()
  do {
    const query = queryOf(type, cursor, 100)
    const page = await retryWhenRateLimited(() => api.call('GET /billing/transactions', { query, headers }))
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  const rows = items.map((one) => [
    one.createdAt,
    one.type,
    one.amountCents,
    one.balanceAfterCents,
    one.notes,
    one.paymentIntentId ?? null,
    one.id,
  ])
  const head = ['created_at', 'type', 'amount_cents', 'balance_after_cents', 'notes', 'payment_intent_id', 'id']
  download(`transactions-${new Date().toISOString().slice(0, 10)}.csv`, toCsv([head, ...rows]))
}

export const Transactions = () => {
  const [params, setParams] = useSearchParams()
  const type = params.get('type') ?? undefined
  const transactions = useInfiniteQuery({
    queryKey: [...keyOf('GET /billing/transactions'), type],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      api.call('GET /billing/transactions', { query: queryOf(type, pageParam, 50), signal }),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
  const exporting = useSubmit(() => exportAll(type).catch((error: unknown) => toast.failed(t`Export failed`, error)))
  const total = transactions.data?.pages[0]?.total
  return (
    <>
      <div className={styles['bar']}>
        <SelectField
          label={t`Type`}
          hideLabel
          value={type ?? ''}
          onChange={({ target }) => setParams(target.value === '' ? {} : { type: target.value })}
        >
          <option value="">
            <Trans>All types</Trans>
          </option>
          {types.map((one) => (
            <option key={one} value={one}>
              {formatWord(one)}
            </option>
          ))}
        </SelectField>
        <span className={styles['gap']}>
          {total !== undefined && plural(total, { one: '# transaction', other: '# transactions' })}
        </span>
        <Button
          icon={<Download />}
          busy={exporting.busy}
          disabledReason={total === 0 && t`Nothing to export.`}
          onClick={exporting.submit}
        >
          <Trans>Export CSV</Trans>
        </Button>
      </div>
      <QueryBoundary query={transactions}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items)
          if (items.length === 0)
            return (
              <EmptyState icon={<ReceiptText />} title={t`No transactions`}>
                {type === undefined ? t`Deposits and usage charges appear here.` : t`No transactions of this type.`}
              </EmptyState>
            )
          return <TransactionTable items={items} />
        }}
      </QueryBoundary>
      <LoadMore
        more={transactions.hasNextPage ? () => void transactions.fetchNextPage() : undefined}
        isLoadingMore={transactions.isFetchingNextPage}
      />
    </>
  )
}
