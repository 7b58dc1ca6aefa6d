import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Event } from '@atrium/client'
import { Activity } from 'lucide-react'
import { Link, useSearchParams } from 'react-router'
import { api, keyOf } from '../../api.ts'
import { LiveList, useLiveList } from '../../live/live-list.tsx'
import { useOpenItem } from '../../open-item.ts'
import { currentParams, useSearchText, withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import type { Column } from '../../ui/data/table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FilterBar } from '../../ui/forms/filter-bar.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { areasOf, isReadable, useEventTypes } from './areas.ts'
import { EventDialog } from './event-dialog.tsx'
import styles from './events.module.css'
import { resourceName, resourceType } from './resource.ts'
import { TypeName } from '../../ui/text/type-name.tsx'

interface Filters {
  types?: string
  subjectId?: string
}

/** A response covers up to 5,000 events, which can all be of other types or resources. */
const responsesPerPage = 5

const loadPage = async (
  filters: Filters,
  { limit, cursor }: { limit: number; cursor?: string },
  signal: AbortSignal,
): Promise<{ items: Event[]; nextCursor: string | null }> => {
  let after = cursor
  for (let responses = 1; ; responses += 1) {
    const query = { order: 'desc' as const, limit, ...filters, ...(after !== undefined && { after }) }
    const { items, nextCursor, hasMore } = await api.call('GET /events', { query, signal })
    if (items.length > 0 || !hasMore || nextCursor === null || responses === responsesPerPage)
      return { items, nextCursor: hasMore ? nextCursor : null }
    after = nextCursor
  }
}

const columnsFor = (hrefOf: (id: string) => string): Column<Event>[] => [
  {
    title: t`Event`,
    cell: ({ id, type, isDelivered }) => (
      <>
        <Link to={hrefOf(id)}>
          <TypeName type={type} />
        </Link>{' '}
        {!isDelivered && (
          <Badge tone="warn">
            <Trans>Not delivered</Trans>
          </Badge>
        )}
      </>
    ),
  },
  {
    title: t`Resource`,
    cell: (event) => (
      <span className={styles['resource']}>
        <span>{resourceName(event)}</span>
        <small>{resourceType(event)}</small>
      </span>
    ),
  },
  {
    title: t`Actor`,
    optional: true,
    cell: ({ actor }) => (
      <span className={styles['actor']}>
        {actor.name}{' '}
        {actor.apiKeyId !== null && (
          <Badge>
            <Trans>API key</Trans>
          </Badge>
        )}
      </span>
    ),
  },
  { title: t`Time`, tight: true, cell: ({ occurredAt }) => <RelativeTime at={occurredAt} /> },
]

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

const FilterFields = ({ type, resource }: { type: string; resource: string }) => {
  const { can } = useIdentity()
  const [, setParams] = useSearchParams()
  const types = useEventTypes()
  const areas = areasOf((types.data?.items ?? []).filter((one) => isReadable(one, can)))
  const change = (name: string, value: string): void =>
    setParams(withParams(currentParams(), { [name]: value }), { replace: true })
  const [resourceText, setResourceText] = useSearchText(resource, (text) => change('resource', text))
  return (
    <FilterBar>
      <SelectField label={t`Type`} value={type} onChange={({ target }) => change('type', target.value)}>
        <option value="">
          <Trans>All types</Trans>
        </option>
        {areas.map(({ name, pattern, types: own }) => (
          <optgroup key={name} label={name}>
            <option value={pattern}>
              <Trans>{name}: all</Trans>
            </option>
            {own.map(({ type: one }) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </optgroup>
        ))}
      </SelectField>
      <TextField
        label={t`Resource ID`}
        value={resourceText}
        error={resource !== '' && !uuid.test(resource) ? t`Enter a complete ID.` : undefined}
        onChange={({ target }) => setResourceText(target.value)}
      />
      {(type !== '' || resource !== '') && (
        <Button variant="quiet" onClick={() => setParams({})}>
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </FilterBar>
  )
}

const NoEvents = ({ isFiltered, onOlder, busy }: { isFiltered: boolean; onOlder?: () => void; busy: boolean }) => (
  <EmptyState
    compact
    icon={<Activity />}
    title={onOlder ? t`No recent events match` : isFiltered ? t`No matching events` : t`No events yet`}
    action={
      onOlder && (
        <Button busy={busy} onClick={onOlder}>
          <Trans>Search older events</Trans>
        </Button>
      )
    }
  >
    {isFiltered ? t`New events that match the filters appear here.` : t`Changes appear here as they happen.`}
  </EmptyState>
)

/** The events of the org that the person may read, newest first. */
export const EventLog = () => {
  const [params] = useSearchParams()
  const opened = useOpenItem('event')
  const [type, resource] = [params.get('type') ?? '', params.get('resource') ?? '']
  const filters: Filters = { ...(type && { types: type }), ...(uuid.test(resource) && { subjectId: resource }) }
  const events = useLiveList([...keyOf('GET /events'), filters], (query, signal) => loadPage(filters, query, signal))
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = events.query
  return (
    <>
      <FilterFields type={type} resource={resource} />
      <LiveList
        list={events}
        label={t`Events`}
        columns={columnsFor(opened.hrefOf)}
        onOpen={({ id }) => opened.open(id)}
        empty={
          <NoEvents
            isFiltered={type !== '' || resource !== ''}
            {...(hasNextPage && { onOlder: () => void fetchNextPage() })}
            busy={isFetchingNextPage}
          />
        }
      >
        {opened.value !== undefined && <EventDialog eventId={opened.value} onClose={() => opened.open(undefined)} />}
      </LiveList>
    </>
  )
}
