import { useQuery } from '@tanstack/react-query'
import type { Event } from '@atrium/client'
import { read } from '../../api.ts'
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
  const workspaces = useQuery(read('GET /workspaces'))
  const { id, actor, subject, occurredAt, workspaceId, chain, isDelivered } = event
  const workspace = workspaces.data?.items.find((one) => one.id === workspaceId)?.name
  const items: Description[] = [
    [resourceType(event), resourceName(event)],
    [
      'Actor',
      <span key="actor" className={styles['actor']}>
        {actor.name} {actor.apiKeyId !== null && <Badge>API key</Badge>}
      </span>,
    ],
    ['Time', formatDateTime(occurredAt)],
    ['Workspace', workspaceId === null ? 'Whole organization' : (workspace ?? workspaceId)],
    [`${resourceType(event)} ID`, <code key="resource">{subject.id}</code>],
    ['Event ID', <code key="id">{id}</code>],
  ]
  if (chain.depth > 0) items.push(['Caused by', `${chain.depth} earlier ${chain.depth === 1 ? 'event' : 'events'}`])
  return (
    <>
      {!isDelivered && (
        <Notice tone="warn">Not delivered: too many events in a row were caused by earlier ones.</Notice>
      )}
      <DescriptionList items={items} />
      <div className={styles['stack']}>
        <h3>Payload</h3>
        <JsonView value={event} label="Payload" />
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
  const isHere = data && (data.workspaceId === null || data.workspaceId === me.workspace?.id)
  const page = isHere && resourcePage(data)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={data?.type ?? 'Event'}
      description={types.data?.items.find(({ type }) => type === data?.type)?.description}
      footer={
        data && (
          <>
            <ButtonLink to={`/events?resource=${data.subject.id}`}>Events of this resource</ButtonLink>
            {page !== undefined && page !== false && (
              <ButtonLink to={page}>Open {resourceType(data).toLowerCase()}</ButtonLink>
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
