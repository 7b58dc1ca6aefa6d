import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Section } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { auditSentence } from './audit-sentence.ts'
import styles from './home.module.css'

/** The latest entries of the audit log. */
export const Activity = () => {
  const entries = useQuery(read('GET /audit-log', { query: { limit: 6 } }))
  return (
    <Section
      plain
      title={t`Activity`}
      actions={
        <ButtonLink small variant="quiet" to="/settings/audit-log">
          <Trans>View all</Trans>
        </ButtonLink>
      }
    >
      <div className={styles['list']}>
        <QueryBoundary query={entries} compact>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState compact title={t`No activity yet`} />
            ) : (
              items.map((entry) => (
                <div key={entry.id} className={styles['item']}>
                  <Avatar name={entry.actor.name} />
                  <span className={styles['text']}>
                    <span className={styles['title']}>{auditSentence(entry)}</span>
                    <small>{entry.actor.name}</small>
                  </span>
                  <RelativeTime at={entry.at} />
                </div>
              ))
            )
          }
        </QueryBoundary>
      </div>
    </Section>
  )
}
