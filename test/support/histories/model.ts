// What an org of files should look like: plain maps, and the rules of the documents written down a second time.
import type { TestActor } from '../../harness.ts'
import type { Grant } from '../files.ts'

export type Access = 'read' | 'write'

export interface Person {
  actor: TestActor
  role: 'owner' | 'admin' | 'member'
  /** Whether they are in the workspace of the org. */
  isInWorkspace: boolean
  /** The ids of what they have marked, also of what they do not find at the moment. */
  favorites: Set<string>
}

export interface Item {
  id: string
  source: 'upload' | 'folder' | 'link'
  name: string
  parentId: string | null
  targetId: string | null
  createdBy: string
  /** Of a file. */
  bytes: string
  version: number
  /** The bytes of the former versions by number. */
  versions: Map<number, string>
  state: 'live' | 'trashed' | 'purged'
  /** The item with which it was deleted. */
  trashedWith: string | undefined
  /** The restricted folders that contain it, with itself. */
  guards: string[]
}

export interface ShareModel {
  id: string
  path: string
  fileId: string
  permission: 'view' | 'download' | 'upload'
  creator: Person
  guards: string[]
  most: number | null
  used: number
  hasPassword: boolean
  isRevoked: boolean
  isExpired: boolean
  /** Its creator has left. */
  isEnded: boolean
}

export interface UploadModel {
  path: string
  owner: Person
  isPartial: boolean
  name: string
  parentId: string | null
  bytes: string
  received: number
  state: 'open' | 'complete' | 'ended'
}

export interface Model {
  people: Person[]
  items: Item[]
  /** The grants of each restricted folder. */
  grants: Map<string, Grant[]>
  shares: ShareModel[]
  uploads: UploadModel[]
}

export const createModel = (people: Person[]): Model => ({
  people,
  items: [],
  grants: new Map(),
  shares: [],
  uploads: [],
})

export const itemOf = ({ items }: Model, id: string | null): Item | undefined => items.find((item) => item.id === id)
export const liveItem = (model: Model, id: string | null): Item | undefined => {
  const item = itemOf(model, id)
  return item?.state === 'live' ? item : undefined
}

const isFor = ({ actor, role, isInWorkspace }: Person, { kind, subject }: Grant): boolean => {
  if (kind === 'user') return subject === actor.userId
  if (kind === 'role') return subject === role
  return isInWorkspace && subject === actor.workspaceId
}

/** Whether a person has access to what lies in these restricted folders. */
export const may = ({ grants }: Model, person: Person, access: Access, guards: readonly string[]): boolean =>
  person.role === 'owner' ||
  guards.every((guard) =>
    grants.get(guard)?.some((grant) => isFor(person, grant) && (access === 'read' || grant.access === 'write')),
  )

export const reads = (model: Model, person: Person, item: Item | undefined): item is Item =>
  item !== undefined && may(model, person, 'read', item.guards)
export const writes = (model: Model, person: Person, item: Item): boolean => may(model, person, 'write', item.guards)

/** The file or link as a person finds it by its id. */
export const found = (model: Model, person: Person, item: Item): boolean =>
  item.state === 'live' && reads(model, person, item)

export const childrenOf = ({ items }: Model, id: string | null): Item[] =>
  items.filter(({ parentId, state }) => parentId === id && state === 'live')

/** The live items in a folder, with itself. */
export const treeOf = (model: Model, item: Item): Item[] => [
  item,
  ...childrenOf(model, item.id).flatMap((child) => treeOf(model, child)),
]

/** Whether a folder lies in another one, or is it. */
export const isInside = (model: Model, id: string | null, top: string): boolean =>
  id !== null && (id === top || isInside(model, itemOf(model, id)?.parentId ?? null, top))

/** Whether all folders below a folder may be changed. */
export const isTreeWritable = (model: Model, person: Person, item: Item): boolean =>
  treeOf(model, item).every((one) => one.source !== 'folder' || one === item || writes(model, person, one))

/** The file to which a link leads a person; a file leads to itself. */
export const contentOf = (model: Model, person: Person, item: Item): Item | undefined => {
  if (item.source !== 'link') return item.source === 'upload' ? item : undefined
  const target = liveItem(model, item.targetId)
  return reads(model, person, target) ? target : undefined
}

const ownGuards = ({ grants }: Model, { id }: Item): string[] => (grants.has(id) ? [id] : [])

/** Gives everything the guards that follow from the tree; what lost its folder for good keeps those that it had. */
export const inheritGuards = (model: Model): void => {
  const done = new Set<Item>()
  const visit = (item: Item): void => {
    if (done.has(item) || item.state === 'purged') return
    done.add(item)
    const parent = itemOf(model, item.parentId)
    if (parent) visit(parent)
    if (parent?.state === 'purged') return
    item.guards = [...(parent?.guards ?? []), ...ownGuards(model, item)]
  }
  for (const item of model.items) visit(item)
}

export const addItem = (
  model: Model,
  item: Pick<Item, 'id' | 'source' | 'name' | 'parentId' | 'createdBy'> & Partial<Item>,
): Item => {
  const made: Item = {
    targetId: null,
    bytes: '',
    version: 1,
    versions: new Map(),
    state: 'live',
    trashedWith: undefined,
    guards: [],
    ...item,
  }
  model.items.push(made)
  inheritGuards(model)
  return made
}

export const setBytes = (item: Item, bytes: string): void => {
  item.versions.set(item.version, item.bytes)
  item.version += 1
  item.bytes = bytes
}

export const trashItem = (model: Model, item: Item): void => {
  for (const one of treeOf(model, item)) Object.assign(one, { state: 'trashed', trashedWith: item.id })
}

export const deletedWith = ({ items }: Model, id: string): Item[] =>
  items.filter(({ state, trashedWith }) => state === 'trashed' && trashedWith === id)

export const purgeItems = (items: Item[]): void => {
  for (const item of items) item.state = 'purged'
}

/** Whether a person may delete everything that was deleted together with an item. */
export const mayPurge = (model: Model, person: Person, root: Item): boolean =>
  deletedWith(model, root.id).every(
    (item) => (item !== root && item.source !== 'folder') || writes(model, person, item),
  )

/** Whether visitors find a share. */
export const isOpenShare = (model: Model, share: ShareModel): boolean => {
  const { isRevoked, isExpired, isEnded, fileId, guards, creator, permission } = share
  const file = liveItem(model, fileId)
  if (isRevoked || isExpired || isEnded || !file || !file.guards.every((guard) => guards.includes(guard))) return false
  return may(model, creator, permission === 'upload' ? 'write' : 'read', file.guards)
}

/** Whether visitors of an open share find an item. */
export const isShared = (model: Model, share: ShareModel, item: Item): boolean =>
  share.permission !== 'upload' &&
  item.source !== 'link' &&
  item.state === 'live' &&
  isInside(model, item.id, share.fileId) &&
  item.guards.every((guard) => share.guards.includes(guard)) &&
  may(model, share.creator, 'read', item.guards)

/** What counts towards the quotas. */
export const usageOf = ({ items, uploads }: Model): { files: number; bytes: number } => {
  const kept = items.filter(({ state }) => state !== 'purged')
  const open = uploads.filter(({ state }) => state === 'open')
  const sizes = kept.flatMap(({ bytes, versions }) => [bytes, ...versions.values()])
  return {
    files: kept.length + open.filter(({ isPartial }) => !isPartial).length,
    bytes: [...sizes, ...open.map(({ bytes }) => bytes)].reduce((sum, bytes) => sum + bytes.length, 0),
  }
}

/** The different contents that must be stored, and how many bytes of open uploads. */
export const contentsOf = ({ items }: Model): Set<string> =>
  new Set(
    items
      .filter(({ state, source }) => state !== 'purged' && source === 'upload')
      .flatMap(({ bytes, versions }) => [bytes, ...versions.values()]),
  )

/** What a path of WebDAV names: of several with one name a folder, else the oldest that leads to bytes. */
export const walk = (model: Model, person: Person, names: readonly string[]): Item[] => {
  const path: Item[] = []
  for (const name of names) {
    const candidates = childrenOf(model, path.at(-1)?.id ?? null)
      .filter((item) => item.name === name && reads(model, person, item))
      .filter((item) => item.source === 'folder' || contentOf(model, person, item) !== undefined)
    const rank = ({ source }: Item): number => (source === 'folder' ? 0 : 1)
    const [next] = candidates.toSorted((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))
    if (!next) break
    path.push(next)
    if (next.source !== 'folder') break
  }
  return path
}
