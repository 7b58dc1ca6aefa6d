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
    toast.done(`Signed out of ${browser}`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Sign out of ${browser}?`}
      description="The session ends immediately. You can sign in there again."
      form={form}
      action="Sign out"
    />
  )
}

const SignOutOthers = ({ onClose }: { onClose: () => void }) => {
  const form = useSubmit(async () => {
    const { ended } = await api.call('DELETE /auth/sessions')
    await refresh('GET /auth/sessions')
    toast.done(ended === 1 ? '1 session ended' : `${ended} sessions ended`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Sign out of all other sessions?"
      description="All your sessions except this one end immediately."
      form={form}
      action="Sign out of all others"
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
      title="Sessions"
      description="Browsers in which you are signed in. A session ends 7 days after its last use."
      actions={
        <Button onClick={() => setEnding('others')} disabledReason={isOnlyOne && 'You have no other sessions.'}>
          Sign out of all others
        </Button>
      }
    >
      <QueryBoundary query={sessions}>
        {({ items }) => (
          <Table
            label="Sessions"
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Browser',
                cell: ({ userAgent, isCurrent }) => (
                  <span className={styles['wrap']}>
                    {browserName(userAgent)}
                    {isCurrent && <Badge tone="info">This browser</Badge>}
                  </span>
                ),
              },
              { title: 'IP address', optional: true, cell: ({ ipAddress }) => ipAddress ?? 'Unknown' },
              { title: 'Signed in', tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
              {
                title: 'Actions',
                hideTitle: true,
                tight: true,
                cell: (session) =>
                  !session.isCurrent && (
                    <Button
                      small
                      variant="quiet"
                      aria-label={`Sign out of ${browserName(session.userAgent)}`}
                      onClick={() => setEnding(session)}
                    >
                      Sign out
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
