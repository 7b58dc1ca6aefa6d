import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { EventEndpoint } from '@atrium/client'
import { Plus, SearchX, Send } from 'lucide-react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { read } from '../../../api.ts'
import { useFallbackPolling } from '../../../live/connection.ts'
import { currentParams, withParams } from '../../../search-params.ts'
import { useIdentity } from '../../../session.tsx'
import { useTitle } from '../../../title.ts'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import { Table } from '../../../ui/data/table.tsx'
import type { Column } from '../../../ui/data/table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { FilterBar } from '../../../ui/forms/filter-bar.tsx'
import { SearchField } from '../../../ui/forms/search-field.tsx'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { QuotaNotice } from '../../billing/quota-notice.tsx'
import { CreateEndpointDialog } from './create-dialog.tsx'
import { EndpointState } from './endpoint-state.tsx'
import styles from './endpoints.module.css'
import { Health } from '../../webhooks/health.tsx'
import { TypeList } from './type-list.tsx'

// Results of deliveries are not events.
const pollMs = 15_000

const columns: Column<EventEndpoint>[] = [
  {
    title: msg`Endpoint`,
    cell: ({ id, name, url }) => (
      <Link to={`/events/endpoints/${id}`} className={styles['name']}>
        <strong>{name}</strong>
        <span>{url}</span>
      </Link>
    ),
  },
  { title: msg`Status`, tight: true, cell: (endpoint) => <EndpointState of={endpoint} /> },
  { title: msg`Event types`, optional: true, cell: ({ types }) => <TypeList types={types} most={2} /> },
  { title: msg`Health`, optional: true, cell: (endpoint) => <Health of={endpoint} /> },
  {
    title: msg`Last delivery`,
    optional: true,
    tight: true,
    cell: ({ lastDeliveryAt }) =>
      lastDeliveryAt === null ? (
        <span className={styles['faint']}>
          <Trans>Never</Trans>
        </span>
      ) : (
        <RelativeTime at={lastDeliveryAt} />
      ),
  },
]

const CreateEndpoint = () => {
  const navigate = useNavigate()
  return (
    <Button variant="primary" icon={<Plus />} onClick={() => void navigate('/events/endpoints?new')}>
      <Trans>Create endpoint</Trans>
    </Button>
  )
}

const Endpoints = ({ items }: { items: EventEndpoint[] }) => {
  const { can } = useIdentity()
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const search = params.get('search') ?? ''
  const wanted = search.trim().toLowerCase()
  const found = items.filter(({ name, url, types }) =>
    `${name} ${url} ${types.join(' ')}`.toLowerCase().includes(wanted),
  )
  if (items.length === 0)
    return (
      <EmptyState
        icon={<Send />}
        title={t`No event endpoints yet`}
        {...(can('webhooks:write') && { action: <CreateEndpoint /> })}
      >
        <Trans>
          An event endpoint is a URL that events of Atrium are sent to as they happen, signed and with retries.
        </Trans>
      </EmptyState>
    )
  return (
    <>
      <FilterBar actions={can('webhooks:write') && <CreateEndpoint />}>
        <SearchField
          label={t`Search endpoints`}
          placeholder={t`Search by name, URL or type`}
          value={search}
          onSearch={(text) => setParams(withParams(currentParams(), { search: text }), { replace: search !== '' })}
        />
      </FilterBar>
      {found.length === 0 ? (
        <EmptyState compact icon={<SearchX />} title={t`No endpoints match “${search}”`} />
      ) : (
        <Table
          label={t`Event endpoints`}
          columns={columns}
          rows={found}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate(`/events/endpoints/${id}`)}
        />
      )}
    </>
  )
}

/** The event endpoints of the org with the results of their last deliveries. */
export const EndpointList = () => {
  useTitle(t`Event endpoints`)
  const { can } = useIdentity()
  const [params, setParams] = useSearchParams()
  const fallback = useFallbackPolling()
  const endpoints = useQuery({
    ...read('GET /event-endpoints'),
    refetchInterval: ({ state: { data } }) =>
      data?.items.some(({ status }) => status === 'active') ? pollMs : fallback,
  })
  return (
    <>
      <QuotaNotice name="webhooks" />
      <QueryBoundary query={endpoints}>{({ items }) => <Endpoints items={items} />}</QueryBoundary>
      {params.has('new') && can('webhooks:write') && (
        <CreateEndpointDialog onClose={() => setParams({}, { replace: true })} />
      )}
    </>
  )
}
