import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { textOf } from '../../../i18n/text.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Menu } from '../../../ui/forms/menu.tsx'
import styles from './file-list.module.css'
import { sortFields, sortingBy, sortNames } from '../sorting.ts'
import type { SortField, Sorting } from '../sorting.ts'

interface Props {
  sorting: Sorting
  /** Undefined for a list with an order of its own, by the last use. */
  onSort: ((sorting: Sorting) => void) | undefined
}

const Arrow = ({ order }: Pick<Sorting, 'order'>) =>
  order === 'asc' ? <ArrowUp aria-hidden="true" /> : <ArrowDown aria-hidden="true" />

const SortHeader = ({
  field,
  className,
  sorting,
  onSort,
  children,
}: Props & { field: SortField; className: string | undefined; children?: ReactNode }) => {
  if (!onSort) {
    const name = field === 'updatedAt' ? t`Last activity` : textOf(sortNames[field])
    return (
      <span role="columnheader" className={className}>
        {name}
      </span>
    )
  }
  const isSorted = sorting.field === field
  const direction = sorting.order === 'asc' ? 'ascending' : 'descending'
  return (
    <span role="columnheader" aria-sort={isSorted ? direction : 'none'} className={className}>
      <button
        type="button"
        className={classNames(styles['sort'], isSorted && styles['sorted'])}
        onClick={() => onSort(sortingBy(field, sorting))}
      >
        {textOf(sortNames[field])}
        {isSorted && <Arrow order={sorting.order} />}
      </button>
      {children}
    </span>
  )
}

/** Where no headings of columns are shown: on a phone, and above tiles. */
export const SortMenu = ({ sorting, onSort }: Props) => {
  if (!onSort) return null
  const name = textOf(sortNames[sorting.field])
  return (
    <span className={styles['sortMenu']}>
      <Menu
        align="start"
        trigger={
          <button type="button" className={styles['sort']} aria-label={t`Sort by: ${name}`}>
            {name}
            <Arrow order={sorting.order} />
          </button>
        }
        entries={sortFields.map((field) => ({
          label: textOf(sortNames[field]),
          checked: field === sorting.field,
          onSelect: () => onSort(sortingBy(field, sorting)),
        }))}
      />
    </span>
  )
}

/** The headings of the list, which sort it. */
export const ListHeader = (props: Props) => (
  <div
    role="row"
    aria-rowindex={1}
    className={styles['head']}
    // The keys of the list are for its rows.
    onKeyDown={(event) => event.stopPropagation()}
  >
    <span role="columnheader" className={styles['check']}>
      <span className="visually-hidden">{t`Selection`}</span>
    </span>
    <SortHeader field="name" className={styles['name']} {...props}>
      <SortMenu {...props} />
    </SortHeader>
    <span role="columnheader" className={styles['owner']}>
      <Trans>Created by</Trans>
    </span>
    <SortHeader field="mimeType" className={styles['type']} {...props} />
    <SortHeader field="size" className={styles['size']} {...props} />
    <SortHeader field="updatedAt" className={styles['time']} {...props} />
    <span role="columnheader" className={styles['more']}>
      <span className="visually-hidden">{t`Actions`}</span>
    </span>
  </div>
)
