import { textOf } from '../../i18n/text.ts'
import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Connection, ConnectorEntry } from '@atrium/client'
import { Plus, SearchX } from 'lucide-react'
import { useCallback } from 'react'
import { Link, useSearchParams } from 'react-router'
import { read } from '../../api.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Page, PageHeader, Section } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { ConnectionDialog } from './connection-dialog.tsx'
import { ConnectionState, titleOf } from './connection-state.tsx'
import styles from './connections.module.css'
import { useConnected } from './oauth-window.ts'
import { Reconnect, writeReason } from './reconnect.tsx'

const needsAttention = ({ status }: Connection): boolean => status !== 'active'

const Mine = ({
  connections,
  connectors,
  hrefOf,
  onOpen,
}: {
  connections: readonly Connection[]
  connectors: readonly ConnectorEntry[]
  hrefOf: (id: string) => string
  onOpen: (id: string) => void
}) => {
  const connectorOf = ({ connectorSlug }: Connection) => connectors.find(({ slug }) => slug === connectorSlug)
  return (
    <Table
      label={t`Your connections`}
      rows={connections}
      keyOf={({ id }) => id}
      onOpen={({ id }) => onOpen(id)}
      columns={[
        {
          title: t`Connection`,
          cell: (one) => {
            const title = titleOf(one, connectorOf(one)?.name ?? one.connectorSlug)
            return (
              <Link to={hrefOf(one.id)} className={styles['name']}>
                <Avatar name={connectorOf(one)?.name ?? one.connectorSlug} square />
                <span>
                  <strong>{title}</strong>
                  <small>{one.lastError ?? one.accountName ?? one.accountId ?? ''}</small>
                </span>
              </Link>
            )
          },
        },
        { title: t`Status`, tight: true, cell: ({ status }) => <ConnectionState of={status} /> },
        {
          title: t`Last used`,
          optional: true,
          tight: true,
          cell: ({ lastUsedAt }) =>
            lastUsedAt === null ? (
              <span className={styles['faint']}>
                <Trans>Never</Trans>
              </span>
            ) : (
              <RelativeTime at={lastUsedAt} />
            ),
        },
        {
          title: t`Actions`,
          hideTitle: true,
          tight: true,
          cell: (one) => needsAttention(one) && <Reconnect small connection={one} connector={connectorOf(one)} />,
        },
      ]}
    />
  )
}

const authTypes = { oauth: 'OAuth', api_key: msg`Credentials`, none: msg`No account required` }

const Card = ({ connector, onConnect }: { connector: ConnectorEntry; onConnect: () => void }) => {
  const { can } = useIdentity()
  const { name, description, authType, availability, availabilityReason, tools } = connector
  const reason =
    availability === 'available'
      ? writeReason(can('connections:write'))
      : (availabilityReason ?? t`Not available on this server.`)
  return (
    <li className={styles['card']}>
      <Avatar name={name} square />
      <h3>
        {name}
        {availability === 'coming_soon' && (
          <Badge>
            <Trans>Coming soon</Trans>
          </Badge>
        )}
        {availability === 'not_configured' && (
          <Badge tone="warn">
            <Trans>Not configured</Trans>
          </Badge>
        )}
      </h3>
      <p>{description}</p>
      <div className={styles['cardFoot']}>
        <span>
          {textOf(authTypes[authType])}
          {tools.length > 0 && `, ${plural(tools.length, { one: '# tool', other: '# tools' })}`}
        </span>
        <Button small icon={<Plus />} disabledReason={reason} aria-label={t`Connect ${name}`} onClick={onConnect}>
          <Trans>Connect</Trans>
        </Button>
      </div>
    </li>
  )
}

const matches = ({ name, slug, description, tools }: ConnectorEntry, search: string): boolean =>
  [name, slug, description, ...tools.map((tool) => tool.name)].join(' ').toLowerCase().includes(search)

const Catalog = ({
  connectors,
  search,
  onSearch,
  onConnect,
}: {
  connectors: readonly ConnectorEntry[]
  search: string
  onSearch: (search: string) => void
  onConnect: (slug: string) => void
}) => {
  const found = connectors.filter((connector) => matches(connector, search.trim().toLowerCase()))
  return (
    <Section
      plain
      title={t`Catalog`}
      actions={
        <div className={styles['search']}>
          <TextField
            label={t`Search catalog`}
            hideLabel
            type="search"
            placeholder={t`Search catalog`}
            value={search}
            onChange={({ target }) => onSearch(target.value)}
          />
        </div>
      }
    >
      {found.length === 0 ? (
        <EmptyState compact icon={<SearchX />} title={t`No connectors match “${search}”`}>
          <Trans>Use “HTTP” to connect any JSON API and “MCP” to connect any MCP server.</Trans>
        </EmptyState>
      ) : (
        <ul className={styles['cards']} aria-label={t`Catalog`}>
          {found.map((connector) => (
            <Card key={connector.slug} connector={connector} onConnect={() => onConnect(connector.slug)} />
          ))}
        </ul>
      )}
    </Section>
  )
}

export const Connections = () => {
  useTitle(t`Connections`)
  const [params, setParams] = useSearchParams()
  const connectors = useQuery(read('GET /connectors'))
  const connections = useQuery({ ...read('GET /connections'), refetchInterval: useFallbackPolling() })
  const changed = (patch: Record<string, string | undefined>): URLSearchParams => withParams(params, patch)
  useConnected(
    useCallback(() => {
      toast.done(t`Connected`)
      setParams(
        (params) => {
          params.delete('connect')
          return params
        },
        { replace: true },
      )
    }, [setParams]),
  )
  const items = connections.data?.items ?? []
  const [connect, open, search] = ['connect', 'open', 'search'].map((name) => params.get(name) ?? '')
  const wanted = connectors.data?.items.find(({ slug }) => slug === connect)
  return (
    <Page wide>
      <PageHeader
        title={t`Connections`}
        description={t`Your accounts at other services. Only agents that work on your behalf can use them.`}
      />
      {connections.error && !connections.data && (
        <ErrorState compact error={connections.error} onRetry={() => void connections.refetch()} />
      )}
      <QueryBoundary query={connectors}>
        {({ items: known }) => (
          <>
            {items.length > 0 && (
              <Section plain title={t`Your connections`}>
                <Mine
                  connections={items}
                  connectors={known}
                  hrefOf={(id) => `?${changed({ open: id })}`}
                  onOpen={(id) => setParams(changed({ open: id }))}
                />
              </Section>
            )}
            <Catalog
              connectors={known}
              search={search ?? ''}
              onSearch={(text) => setParams(changed({ search: text }), { replace: search !== '' })}
              onConnect={(slug) => setParams(changed({ connect: slug }))}
            />
            {wanted && (
              <ConnectDialog
                key={wanted.slug}
                connector={wanted}
                connections={items}
                onClose={() => setParams(changed({ connect: undefined }), { replace: true })}
              />
            )}
            {open !== undefined && open !== '' && (
              <ConnectionDialog
                key={open}
                id={open}
                connectors={known}
                onClose={() => setParams(changed({ open: undefined }), { replace: true })}
              />
            )}
          </>
        )}
      </QueryBoundary>
    </Page>
  )
}
