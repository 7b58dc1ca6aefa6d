import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { AuditEntry } from '@atrium/client'
import { read } from '../../api.ts'
import { formatWord } from '../../words.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Section } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import styles from './home.module.css'

/** Texts for actions whose name does not read well. */
const sentences: Record<string, Text> = {
  'billing.deposited': msg`Funds added`,
  'user.stepped-up': msg`Identity confirmed`,
}

/** `api-key.created` → `API key created: CI`, with the name of the resource if there is one. */
const sentenceOf = ({ action, details }: AuditEntry): string => {
  const words = textOf(sentences[action] ?? formatWord(action.replace('.', ' ')).replace(/^Api /, 'API '))
  return typeof details['name'] === 'string' ? `${words}: ${details['name']}` : words
}

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
                    <span className={styles['title']}>{sentenceOf(entry)}</span>
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
