import { t } from '@lingui/core/macro'
import type { EventTypeRecord } from '@atrium/client'
import { SearchX } from 'lucide-react'
import { Link, useSearchParams } from 'react-router'
import { apiText } from '../../i18n/language.ts'
import { useOpenItem } from '../../open-item.ts'
import { currentParams, withParams } from '../../search-params.ts'
import { useTitle } from '../../title.ts'
import type { Column } from '../../ui/data/table.tsx'
import { Table } from '../../ui/data/table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FilterBar } from '../../ui/forms/filter-bar.tsx'
import { InlineCode } from '../../ui/text/inline-code.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { Section } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { areasOf, useEventTypes } from './areas.ts'
import styles from './events.module.css'
import { TypeDialog } from './type-dialog.tsx'
import { TypeName } from '../../ui/text/type-name.tsx'

const columnsFor = (hrefOf: (type: string) => string): Column<EventTypeRecord>[] => [
  {
    title: t`Type`,
    cell: ({ type }) => (
      <Link to={hrefOf(type)}>
        <TypeName type={type} />
      </Link>
    ),
  },
  {
    title: t`Description`,
    cell: ({ description }) => (
      <span className={styles['muted']}>
        <InlineCode text={apiText(description)} />
      </span>
    ),
  },
]

/** The catalog of event types by area. */
export const EventTypes = () => {
  useTitle(t`Event types`)
  const [params, setParams] = useSearchParams()
  const opened = useOpenItem('open')
  const types = useEventTypes()
  const search = params.get('search') ?? ''
  const wanted = search.trim().toLowerCase()
  return (
    <QueryBoundary query={types}>
      {({ items }) => {
        const areas = areasOf(
          items.filter(({ type, description }) => `${type} ${apiText(description)}`.toLowerCase().includes(wanted)),
        )
        const open = items.find(({ type }) => type === opened.value)
        return (
          <>
            <FilterBar>
              <SearchField
                label={t`Search event types`}
                value={search}
                onSearch={(text) =>
                  setParams(withParams(currentParams(), { search: text }), { replace: search !== '' })
                }
              />
            </FilterBar>
            {areas.length === 0 && (
              <EmptyState compact icon={<SearchX />} title={t`No event types match “${search}”`} />
            )}
            {areas.map(({ name, types: own }) => (
              <Section key={name} plain title={name}>
                <div className={styles['catalog']}>
                  <Table
                    label={name}
                    columns={columnsFor(opened.hrefOf)}
                    rows={own}
                    keyOf={({ type }) => type}
                    stacked="all"
                    onOpen={({ type }) => opened.open(type)}
                  />
                </div>
              </Section>
            ))}
            {open && <TypeDialog of={open} onClose={() => opened.open(undefined)} />}
          </>
        )
      }}
    </QueryBoundary>
  )
}
