import type { EntryRow, Space } from '../../../files/files.ts'
import type { Actor } from '../../../identity/actor.ts'
import { etagOfEntry } from '../conditions.ts'
import { lockDiscovery, locksOn, supportedLock } from '../locks/locks.ts'
import type { LockRow } from '../locks/queries.ts'
import { davElement, davNamespace, escapeXml } from '../xml/write.ts'
import type { DeadProperty } from './queries.ts'

export interface PropertyName {
  namespace: string
  name: string
}

/** A file or folder whose properties are sent. */
export interface Resource {
  href: string
  /** Undefined for the root folder. */
  entry: EntryRow | undefined
  /** The ids of the folders from the root, and its own. */
  chain: readonly string[]
}

/** What the properties of a request depend on. */
export interface PropertyContext {
  actor: Actor
  locks: readonly LockRow[]
  /** The address of a locked file or folder, for its `lockroot`. */
  hrefOfId: (resource: Resource, id: string) => string
  space: Space | undefined
}

const isFolder = ({ entry }: Resource): boolean => entry === undefined || entry.source === 'folder'

type Live = (resource: Resource, context: PropertyContext) => string | undefined

const ofFile =
  (value: (entry: EntryRow) => string | undefined): Live =>
  ({ entry }) =>
    entry === undefined || entry.source === 'folder' ? undefined : value(entry)

/** The properties that the server computes. Undefined: the resource does not have it. Clients cannot change them. */
const live: Record<string, Live> = {
  creationdate: ({ entry }) => entry && `${entry.createdAt.slice(0, 19)}Z`,
  displayname: ({ entry }, { actor }) => escapeXml(entry?.name ?? actor.orgName),
  getcontentlength: ofFile(({ size }) => String(size)),
  getcontenttype: ofFile(({ mimeType }) => escapeXml(mimeType ?? 'application/octet-stream')),
  getetag: ofFile((entry) => escapeXml(etagOfEntry(entry) ?? '')),
  getlastmodified: ({ entry }) => entry && new Date(entry.contentAt).toUTCString(),
  lockdiscovery: (resource, { locks, hrefOfId }) =>
    lockDiscovery(locksOn(locks, resource.chain), ({ fileId }) => hrefOfId(resource, fileId)),
  resourcetype: (resource) => (isFolder(resource) ? davElement('collection') : ''),
  supportedlock: () => supportedLock,
}

/** RFC 4331. Sent only to those who name them, because they cost a query. */
const quota: Record<string, Live> = {
  'quota-used-bytes': (resource, { space }) => (space && isFolder(resource) ? String(space.used) : undefined),
  'quota-available-bytes': (resource, { space }) =>
    space?.available === undefined || !isFolder(resource) ? undefined : String(space.available),
}

export const isLive = ({ namespace, name }: PropertyName): boolean =>
  namespace === davNamespace && (Object.hasOwn(live, name) || Object.hasOwn(quota, name))

export const asksForQuota = (names: readonly PropertyName[]): boolean =>
  names.some(({ namespace, name }) => namespace === davNamespace && Object.hasOwn(quota, name))

/** An empty element of any namespace. */
export const emptyElement = ({ namespace, name }: PropertyName): string =>
  namespace === davNamespace
    ? davElement(name)
    : namespace === ''
      ? `<${name} xmlns=""/>`
      : `<n:${name} xmlns:n="${escapeXml(namespace)}"/>`

const statusLines: Record<number, string> = {
  200: 'HTTP/1.1 200 OK',
  403: 'HTTP/1.1 403 Forbidden',
  404: 'HTTP/1.1 404 Not Found',
  424: 'HTTP/1.1 424 Failed Dependency',
}

/** Properties of a resource with one status, as XML. */
export const propstat = (status: number, properties: readonly string[], more = ''): string =>
  properties.length === 0
    ? ''
    : davElement(
        'propstat',
        davElement('prop', properties.join('')) + davElement('status', statusLines[status] ?? '') + more,
      )

export const response = (href: string, propstats: string): string =>
  davElement('response', davElement('href', escapeXml(href)) + propstats)

/** What a PROPFIND asks for. */
export type Wanted =
  | { kind: 'all'; include: readonly PropertyName[] }
  | { kind: 'names' }
  | { kind: 'some'; names: readonly PropertyName[] }

/** Whether properties are needed that clients have set. */
export const needsDead = (wanted: Wanted): boolean =>
  wanted.kind !== 'some' || wanted.names.some((name) => !isLive(name))

const liveValue = (name: string, resource: Resource, context: PropertyContext): string | undefined =>
  (live[name] ?? quota[name])?.(resource, context)

const some = (
  names: readonly PropertyName[],
  resource: Resource,
  context: PropertyContext,
  dead: readonly DeadProperty[],
): [found: string[], missing: string[]] => {
  const found: string[] = []
  const missing: string[] = []
  for (const wanted of names) {
    const value = isLive(wanted) ? liveValue(wanted.name, resource, context) : undefined
    const set = dead.find(({ namespace, name }) => namespace === wanted.namespace && name === wanted.name)
    if (value !== undefined) found.push(davElement(wanted.name, value))
    else if (set) found.push(set.value)
    else missing.push(emptyElement(wanted))
  }
  return [found, missing]
}

const liveNames = (resource: Resource, context: PropertyContext): PropertyName[] =>
  Object.keys(live)
    .filter((name) => liveValue(name, resource, context) !== undefined)
    .map((name) => ({ namespace: davNamespace, name }))

/** The `DAV:response` of a resource. */
export const responseOf = (
  wanted: Wanted,
  resource: Resource,
  context: PropertyContext,
  dead: readonly DeadProperty[],
): string => {
  if (wanted.kind === 'names') {
    const names = liveNames(resource, context).map(({ name }) => davElement(name))
    return response(resource.href, propstat(200, [...names, ...dead.map(emptyElement)]))
  }
  const names = wanted.kind === 'some' ? wanted.names : [...liveNames(resource, context), ...dead, ...wanted.include]
  const [found, missing] = some(names, resource, context, dead)
  const isEmpty = found.length + missing.length === 0
  return response(
    resource.href,
    isEmpty
      ? davElement('propstat', davElement('prop') + davElement('status', statusLines[200]))
      : propstat(200, found) + propstat(404, missing),
  )
}
