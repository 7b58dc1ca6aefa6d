import { msg, t } from '@lingui/core/macro'
import type { TransactionPage } from '@atrium/client'
import { apiText } from '../../i18n/language.ts'
import { formatCents } from '../../format.ts'
import { formatWord } from '../../words.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import type { Tone } from '../../ui/data/badge.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Table } from '../../ui/data/table.tsx'
import type { Column } from '../../ui/data/table.tsx'
import styles from './billing.module.css'
import { DocumentLinks, receiptPath } from './document-links.tsx'

export type Transaction = TransactionPage['items'][number]

const tones: Record<Transaction['type'], Tone> = {
  deposit: 'good',
  usage: 'neutral',
  refund: 'warn',
  adjustment: 'info',
  platform_fee: 'neutral',
}

const Amount = ({ cents }: { cents: number }) => (
  <span className={classNames(styles['signed'], cents > 0 && styles['plus'])}>
    {cents > 0 ? '+' : ''}
    {formatCents(cents)}
  </span>
)

const columns: (Column<Transaction> & { isLong?: boolean })[] = [
  { title: msg`Date`, tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  { title: msg`Type`, tight: true, cell: ({ type }) => <Badge tone={tones[type]}>{formatWord(type)}</Badge> },
  { title: msg`Note`, optional: true, isLong: true, cell: ({ notes }) => apiText(notes ?? '') },
  { title: msg`Amount`, align: 'end', cell: ({ amountCents }) => <Amount cents={amountCents} /> },
  {
    title: msg`Balance after`,
    align: 'end',
    optional: true,
    isLong: true,
    cell: ({ balanceAfterCents }) => formatCents(balanceAfterCents),
  },
  {
    title: msg`Receipt`,
    optional: true,
    isLong: true,
    align: 'end',
    tight: true,
    cell: ({ receiptId }) =>
      receiptId !== undefined && <DocumentLinks path={receiptPath(receiptId)} name={t`receipt ${receiptId}`} />,
  },
]

export const TransactionTable = ({ items, short = false }: { items: readonly Transaction[]; short?: boolean }) => (
  <Table
    label={t`Transactions`}
    columns={short ? columns.filter(({ isLong }) => isLong !== true) : columns}
    rows={items}
    keyOf={({ id }) => id}
  />
)
