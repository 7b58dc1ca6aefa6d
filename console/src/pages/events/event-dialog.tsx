import { apiText } from '../../i18n/language.ts'
import { formatWordInText } from '../../words.ts'
import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Event } from '@atrium/client'
import { read, readAll } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { useIdentity } from '../../session.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { DescriptionList } from '../../ui/data/description-list.tsx'
import type { Description } from '../../ui/data/description-list.tsx'
import { JsonView } from '../../ui/data/json-view.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { useEventTypes } from './areas.ts'
import styles from './events.module.css'
import { resourceName, resourcePage, resourceType } from './resource.ts'

const Content = ({ event }: { event: Event }) => {
  const workspaces = useQuery(readAll('GET /workspaces'))
  const { id, actor, subject, occurredAt, workspaceId, chain, isDelivered } = event
  const workspace = workspaces.data?.find((one) => one.id === workspaceId)?.name
  const items: Description[] = [
    [resourceType(event), resourceName(event)],
    [
      t`Actor`,
      <span key="actor" className={styles['actor']}>
        {actor.name}{' '}
        {actor.apiKeyId !== null && (
          <Badge>
            <Trans>API key</Trans>
          </Badge>
        )}
      </span>,
    ],
    [t`Time`, formatDateTime(occurredAt)],
    [t`Workspace`, workspaceId === null ? t`Whole organization` : (workspace ?? workspaceId)],
    [t`${resourceType(event)} ID`, <code key="resource">{subject.id}</code>],
    [t`Event ID`, <code key="id">{id}</code>],
  ]
  if (chain.depth > 0)
    items.push([t`Caused by`, plural(chain.depth, { one: '# earlier event', other: '# earlier events' })])
  return (
    <>
      {!isDelivered && (
        <Notice tone="warn">
          <Trans>Not delivered: too many events in a row were caused by earlier ones.</Trans>
        </Notice>
      )}
      <DescriptionList items={items} />
      <div className={styles['stack']}>
        <h3>
          <Trans>Payload</Trans>
        </h3>
        <JsonView value={event} label={t`Payload`} />
      </div>
    </>
  )
}

/** One event with its payload. */
export const EventDialog = ({ eventId, onClose }: { eventId: string; onClose: () => void }) => {
  const { me } = useIdentity()
  const types = useEventTypes()
  // An event never changes.
  const event = useQuery({ ...read('GET /events/:id', { params: { id: eventId } }), staleTime: Infinity })
  const { data } = event
  const about = types.data?.items.find(({ type }) => type === data?.type)?.description
  const isHere = data && (data.workspaceId === null || data.workspaceId === me.workspace?.id)
  const page = isHere && resourcePage(data)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={data?.type ?? t`Event`}
      description={about && apiText(about)}
      footer={
        data && (
          <>
            <ButtonLink to={`/events?resource=${data.subject.id}`}>
              <Trans>Events of this resource</Trans>
            </ButtonLink>
            {page !== undefined && page !== false && (
              <ButtonLink to={page}>
                <Trans>Open {formatWordInText(data.subject.type)}</Trans>
              </ButtonLink>
            )}
          </>
        )
      }
    >
      <QueryBoundary query={event} compact>
        {(loaded) => <Content event={loaded} />}
      </QueryBoundary>
    </Dialog>
  )
}
