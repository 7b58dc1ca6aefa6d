import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Connection, ConnectorEntry } from '@atrium/client'
import { useCallback } from 'react'
import { Link, useSearchParams } from 'react-router'
import { apiText } from '../../i18n/language.ts'
import { read } from '../../api.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { currentParams, withParams } from '../../search-params.ts'
import { useTitle } from '../../title.ts'
import { Page, PageHeader, Section } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { Catalog } from './catalog.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { ConnectionDialog } from './connection-dialog.tsx'
import { ConnectionState, titleOf } from './connection-state.tsx'
import { ConnectorLogo } from './connector-logo.tsx'
import styles from './connections.module.css'
import { useConnected } from './oauth-window.ts'
import { Reconnect } from './reconnect.tsx'
import { SetupDialog } from './setup-dialog.tsx'

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
                <ConnectorLogo slug={one.connectorSlug} name={connectorOf(one)?.name ?? one.connectorSlug} />
                <span>
                  <strong>{title}</strong>
                  <small>
                    {one.lastError === null ? (one.accountName ?? one.accountId ?? '') : apiText(one.lastError)}
                  </small>
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
  const [connect, open, search, setup] = ['connect', 'open', 'search', 'setup'].map((name) => params.get(name) ?? '')
  const wanted = connectors.data?.items.find(({ slug }) => slug === connect)
  const missing = connectors.data?.items.find(({ slug }) => slug === setup)
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
                  onOpen={(id) => setParams(withParams(currentParams(), { open: id }))}
                />
              </Section>
            )}
            <Catalog
              connectors={known}
              search={search ?? ''}
              onSearch={(text) => setParams(withParams(currentParams(), { search: text }), { replace: search !== '' })}
              onConnect={(slug) => setParams(withParams(currentParams(), { connect: slug }))}
              onSetup={(slug) => setParams(withParams(currentParams(), { setup: slug }))}
            />
            {missing?.setup && (
              <SetupDialog
                connector={{ ...missing, setup: missing.setup }}
                onClose={() => setParams(withParams(currentParams(), { setup: undefined }), { replace: true })}
              />
            )}
            {wanted && (
              <ConnectDialog
                key={wanted.slug}
                connector={wanted}
                connections={items}
                onClose={() => setParams(withParams(currentParams(), { connect: undefined }), { replace: true })}
              />
            )}
            {open !== undefined && open !== '' && (
              <ConnectionDialog
                key={open}
                id={open}
                connectors={known}
                onClose={() => setParams(withParams(currentParams(), { open: undefined }), { replace: true })}
              />
            )}
          </>
        )}
      </QueryBoundary>
    </Page>
  )
}
