import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { AuditEntry } from '@atrium/client'
import { ScrollText } from 'lucide-react'
import { Link, useSearchParams } from 'react-router'
import { usePages } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { jsonText } from '../../ui/text/json-text.ts'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import { formatWord } from '../../words.ts'
import { AuditFilters, auditQueryOf } from './audit-filters.tsx'
import styles from './settings.module.css'

const Details = ({ details, requestId, ip, resource }: AuditEntry) => {
  const all = {
    ...details,
    ...(resource.id !== null && { resourceId: resource.id }),
    ...(ip !== null && { address: ip }),
    ...(requestId !== null && { requestId }),
  }
  if (Object.keys(all).length === 0) return null
  return (
    <details className={styles['details']}>
      <summary>
        <Trans>Details</Trans>
      </summary>
      <pre>{jsonText(all)}</pre>
    </details>
  )
}

const Actor = ({ actor, params }: AuditEntry & { params: URLSearchParams }) => (
  <span className={styles['wrap']}>
    {actor.id === null ? (
      actor.name
    ) : (
      <Link className={styles['filterLink']} to={`?${withParams(params, { actor: actor.id })}`}>
        {actor.name}
      </Link>
    )}
    {actor.apiKeyId !== null && (
      <Badge>
        <Trans>API key</Trans>
      </Badge>
    )}
  </span>
)

const Resource = ({ resource: { type, id }, details, params }: AuditEntry & { params: URLSearchParams }) => {
  const word = formatWord(type.replaceAll('-', '_'))
  const name = typeof details['name'] === 'string' ? details['name'] : undefined
  return (
    <span className={styles['wrap']}>
      {id === null ? (
        name
      ) : (
        <Link className={styles['filterLink']} to={`?${withParams(params, { type, resource: id })}`}>
          {name ?? word}
        </Link>
      )}
      {(name !== undefined || id === null) && <span className={styles['muted']}>{word}</span>}
    </span>
  )
}

export const AuditLog = () => {
  useTitle(t`Audit log`)
  const { can } = useIdentity()
  const [params] = useSearchParams()
  const entries = usePages('GET /audit-log', { query: auditQueryOf(params) })
  return (
    <>
      {can('audit:read') && <AuditFilters />}
      <QueryBoundary query={entries.query}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={<ScrollText />} title={t`No entries`} compact>
              {params.size > 0 ? t`No entries match the filters.` : t`Changes by people and API keys appear here.`}
            </EmptyState>
          ) : (
            <Table
              stacked="actions"
              label={t`Audit log`}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { title: t`Action`, tight: true, cell: (entry) => <code>{entry.action}</code> },
                { title: t`Actor`, cell: (entry) => <Actor {...entry} params={params} /> },
                { title: t`Resource`, cell: (entry) => <Resource {...entry} params={params} /> },
                { title: t`More`, hideTitle: true, cell: (entry) => <Details {...entry} /> },
                {
                  title: t`Time`,
                  tight: true,
                  cell: ({ at }) => <span className={styles['muted']}>{formatDateTime(at)}</span>,
                },
              ]}
            />
          )
        }
      </QueryBoundary>
      <LoadMore {...entries} />
    </>
  )
}
