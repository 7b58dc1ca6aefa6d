import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Files } from 'lucide-react'
import { Link } from 'react-router'
import { read } from '../../api.ts'
import { formatBytes } from '../../format.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { Section } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import styles from './home.module.css'

/** The files that the person uploaded, changed or opened last. */
export const RecentFiles = () => {
  const recent = useQuery(read('GET /files', { query: { recent: true, limit: 6 } }))
  return (
    <Section plain title={t`Recent files`}>
      <div className={styles['list']}>
        <QueryBoundary query={recent} compact>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState
                compact
                icon={<Files />}
                title={t`No recent files`}
                action={
                  <ButtonLink to="/files">
                    <Trans>Open files</Trans>
                  </ButtonLink>
                }
              />
            ) : (
              items.map(({ id, name, parentId, path = [], size, recentAt, updatedAt }) => (
                <Link
                  key={id}
                  to={`/files${parentId === null ? '' : `/${parentId}`}?open=${id}`}
                  className={styles['item']}
                >
                  <span className={styles['text']}>
                    <span className={styles['title']}>{name}</span>
                    <small className={styles['path']}>
                      {path.length === 0 ? t`All files` : path.join(' / ')} · {formatBytes(size)}
                    </small>
                  </span>
                  <RelativeTime at={recentAt ?? updatedAt} />
                </Link>
              ))
            )
          }
        </QueryBoundary>
      </div>
    </Section>
  )
}
