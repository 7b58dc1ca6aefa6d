import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { AuditEntry } from '@atrium/client'
import { ScrollText } from 'lucide-react'
import { useSearchParams } from 'react-router'
import { read, usePages } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import styles from './settings.module.css'

/** The start of a local calendar day as ISO 8601 in UTC, `after` days later. */
const dayStart = (day: string, after = 0): string => {
  const date = new Date(`${day}T00:00:00`)
  date.setDate(date.getDate() + after)
  return date.toISOString()
}

const Details = ({ details, requestId, ip }: AuditEntry) => {
  const all = { ...details, ...(ip !== null && { address: ip }), ...(requestId !== null && { requestId }) }
  if (Object.keys(all).length === 0) return null
  return (
    <details className={styles['details']}>
      <summary>
        <Trans>Details</Trans>
      </summary>
      <pre>{JSON.stringify(all, null, 2)}</pre>
    </details>
  )
}

const Filters = () => {
  const [params, setParams] = useSearchParams()
  const members = useQuery(read('GET /members', { query: { limit: 100 } }))
  const field = (name: string) => ({
    value: params.get(name) ?? '',
    onChange: ({ target }: { target: { value: string } }) => setParams(withParams(params, { [name]: target.value })),
  })
  return (
    <div className={styles['filters']} role="search">
      <SelectField label={t`Actor`} {...field('actor')}>
        <option value="">
          <Trans>Everyone</Trans>
        </option>
        {(members.data?.items ?? []).map(({ userId, name }) => (
          <option key={userId} value={userId}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField label={t`Action`} placeholder="api-key.created" {...field('action')} />
      <TextField label={t`From`} type="date" {...field('from')} />
      <TextField label={t`To`} type="date" {...field('to')} />
      {params.size > 0 && (
        <Button variant="quiet" onClick={() => setParams({})}>
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </div>
  )
}

export const AuditLog = () => {
  useTitle(t`Audit log`)
  const { can } = useIdentity()
  const [params] = useSearchParams()
  const [actorId, action, from, to] = ['actor', 'action', 'from', 'to'].map((name) => params.get(name) ?? '')
  const entries = usePages('GET /audit-log', {
    query: {
      ...(actorId && { actorId }),
      ...(action && { action }),
      ...(from && { since: dayStart(from) }),
      ...(to && { until: dayStart(to, 1) }),
    },
  })
  return (
    <>
      {can('audit:read') && <Filters />}
      <QueryBoundary query={entries.query}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={<ScrollText />} title={t`No entries`} compact>
              {params.size > 0 ? t`No entries match the filters.` : t`Changes by people and API keys appear here.`}
            </EmptyState>
          ) : (
            <Table
              label={t`Audit log`}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: t`Time`,
                  tight: true,
                  cell: ({ at }) => <span className={styles['muted']}>{formatDateTime(at)}</span>,
                },
                {
                  title: t`Actor`,
                  cell: ({ actor }) => (
                    <span className={styles['wrap']}>
                      {actor.name}{' '}
                      {actor.apiKeyId !== null && (
                        <Badge>
                          <Trans>API key</Trans>
                        </Badge>
                      )}
                    </span>
                  ),
                },
                { title: t`Action`, cell: (entry) => <code>{entry.action}</code> },
                {
                  title: t`Resource`,
                  optional: true,
                  cell: ({ resource, details }) => (
                    <span>
                      {typeof details['name'] === 'string' ? (
                        details['name']
                      ) : (
                        <span className={styles['muted']}>{resource.type}</span>
                      )}
                    </span>
                  ),
                },
                { title: t`More`, hideTitle: true, optional: true, cell: (entry) => <Details {...entry} /> },
              ]}
            />
          )
        }
      </QueryBoundary>
      <LoadMore {...entries} />
    </>
  )
}
