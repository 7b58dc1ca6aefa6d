import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { OwnSession } from '@atrium/client'
import { useState } from 'react'
import { api, read, refresh } from '../../api.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Table } from '../../ui/data/table.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Section } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { toast } from '../../ui/toast.tsx'
import { browserName } from './browser-name.ts'
import styles from './settings.module.css'

const SignOutOne = ({ session, onClose }: { session: OwnSession; onClose: () => void }) => {
  const browser = browserName(session.userAgent)
  const form = useSubmit(async () => {
    await api.call('DELETE /auth/sessions/:id', { params: { id: session.id } })
    await refresh('GET /auth/sessions')
    toast.done(t`Signed out of ${browser}`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Sign out of ${browser}?`}
      description={t`The session ends immediately. You can sign in there again.`}
      form={form}
      action={t`Sign out`}
    />
  )
}

const SignOutOthers = ({ onClose }: { onClose: () => void }) => {
  const form = useSubmit(async () => {
    const { ended } = await api.call('DELETE /auth/sessions')
    await refresh('GET /auth/sessions')
    toast.done(plural(ended, { one: '# session ended', other: '# sessions ended' }))
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Sign out of all other sessions?`}
      description={t`All your sessions except this one end immediately.`}
      form={form}
      action={t`Sign out of all others`}
    />
  )
}

/** The browsers in which the person is signed in. */
export const Sessions = () => {
  const sessions = useQuery(read('GET /auth/sessions'))
  const [ending, setEnding] = useState<OwnSession | 'others'>()
  const isOnlyOne = (sessions.data?.items.length ?? 0) < 2
  return (
    <Section
      plain
      title={t`Sessions`}
      description={t`Browsers in which you are signed in. A session ends 7 days after its last use.`}
      actions={
        <Button onClick={() => setEnding('others')} disabledReason={isOnlyOne && t`You have no other sessions.`}>
          <Trans>Sign out of all others</Trans>
        </Button>
      }
    >
      <QueryBoundary query={sessions}>
        {({ items }) => (
          <Table
            label={t`Sessions`}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              {
                title: t`Browser`,
                cell: ({ userAgent, isCurrent }) => (
                  <span className={styles['wrap']}>
                    {browserName(userAgent)}
                    {isCurrent && (
                      <Badge tone="info">
                        <Trans>This browser</Trans>
                      </Badge>
                    )}
                  </span>
                ),
              },
              { title: t`IP address`, optional: true, cell: ({ ipAddress }) => ipAddress ?? t`Unknown` },
              { title: t`Signed in`, tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
              {
                title: t`Actions`,
                hideTitle: true,
                tight: true,
                cell: (session) =>
                  !session.isCurrent && (
                    <Button
                      small
                      variant="quiet"
                      aria-label={t`Sign out of ${browserName(session.userAgent)}`}
                      onClick={() => setEnding(session)}
                    >
                      <Trans>Sign out</Trans>
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </QueryBoundary>
      {ending === 'others' && <SignOutOthers onClose={() => setEnding(undefined)} />}
      {typeof ending === 'object' && <SignOutOne session={ending} onClose={() => setEnding(undefined)} />}
    </Section>
  )
}
