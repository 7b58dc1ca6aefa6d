import type { Event } from '@atrium/client'
import { formatWord } from '../../words.ts'

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** `API key` for `api_key`. */
export const resourceType = ({ subject }: Event): string => formatWord(subject.type)

/** The name of the resource, if the event has it, or the end of its ID, which differs most. */
export const resourceName = ({ data, subject }: Event): string =>
  text(data['name']) ?? text(data['title']) ?? `…${subject.id.slice(-8)}`

/** The page of the resource; undefined when it has none, or was deleted. */
export const resourcePage = ({ type, subject: { type: of, id }, data }: Event): string | undefined => {
  if (/\.(?:deleted|revoked)$/.test(type)) return undefined
  if (of === 'agent') return `/agents/${id}`
  if (of === 'session') return `/chat/${id}`
  if (of === 'event_endpoint') return `/events/endpoints/${id}`
  if (of === 'webhook') return `/webhooks/${id}`
  if (of === 'connection') return `/connections?open=${id}`
  if (of === 'balance') return '/billing'
  if (of !== 'file') return undefined
  if (type.startsWith('folder.')) return `/files/${id}`
  const parentId = text(data['parentId'])
  return `/files${parentId === undefined ? '' : `/${parentId}`}?open=${id}`
}
