import assert from 'node:assert/strict'
import type { Answer } from '../../harness.ts'
import { sql } from '../../../src/platform/database/database.ts'
import { answers, names, pick } from './history.ts'
import type { History, Step, StepKinds } from './history.ts'
import {
  addItem,
  contentOf,
  isTreeWritable,
  itemOf,
  purgeItems,
  reads,
  setBytes,
  trashItem,
  treeOf,
  walk,
  writes,
} from './model.ts'
import type { Item, Model, Person } from './model.ts'
import { contentOfStep, moveItem, statusOfMove } from './tree-steps.ts'

/** What a path names for a person. */
interface Target {
  path: string[]
  name: string
  /** The items along the path, as far as they exist. */
  chain: Item[]
  item: Item | undefined
  /** Null for the root; undefined when there is no such folder. */
  parentId: string | null | undefined
}

const targetOf = (model: Model, person: Person, path: string[]): Target => {
  const chain = walk(model, person, path)
  const above = chain.slice(0, path.length - 1)
  const folder = above.at(-1)
  const hasParent = above.length === path.length - 1 && (folder === undefined || folder.source === 'folder')
  return {
    path,
    name: path.at(-1) ?? '',
    chain,
    item: chain.length === path.length ? chain.at(-1) : undefined,
    parentId: hasParent ? (folder?.id ?? null) : undefined,
  }
}

/** Mostly the path of something that exists. */
export const pickTarget = ({ model }: History, person: Person, n: number): Target => {
  const live = model.items.filter((item) => item.state === 'live' && reads(model, person, item))
  const item = pick(live, n >> 2)
  const pathOf = (one: Item | undefined): string[] =>
    one === undefined ? [] : [...pathOf(itemOf(model, one.parentId)), one.name]
  if (n % 4 > 1 && item) return targetOf(model, person, pathOf(item))
  const folder = n % 4 === 1 && item?.source === 'folder' ? pathOf(item) : []
  return targetOf(model, person, [...folder, names[(n >> 4) % 4] as string])
}

const hrefOf = (path: string[]): string => `/dav/${path.join('/')}`

export const dav = (
  { app }: History,
  { actor }: Person,
  method: string,
  { path, headers = {}, body }: Pick<Target, 'path'> & { headers?: Record<string, string>; body?: string },
): Promise<Answer> => app.call(method, hrefOf(path), { as: actor, headers, ...(body === undefined ? {} : { body }) })

const mayPutInto = (model: Model, person: Person, id: string | null): boolean => {
  const folder = itemOf(model, id)
  return folder === undefined || writes(model, person, folder)
}

const get = async (history: History, step: Step, person: Person): Promise<void> => {
  const target = pickTarget(history, person, step.on)
  const { item } = target
  const answer = await dav(history, person, 'GET', target)
  const expected = item === undefined ? 404 : item.source === 'folder' ? 405 : 200
  if (answers(answer, expected, 'GET') && item) assert.equal(answer.text, contentOf(history.model, person, item)?.bytes)
}

const put = async (history: History, step: Step, person: Person): Promise<void> => {
  const { app, model, orgId } = history
  const target = pickTarget(history, person, step.on)
  const { item, name, parentId } = target
  const bytes = contentOfStep(step)
  const answer = await dav(history, person, 'PUT', { ...target, body: bytes })
  let expected = item ? 204 : 201
  if (item?.source === 'folder') expected = 405
  else if (parentId === undefined) expected = 409
  else if (item && (item.source === 'link' || !writes(model, person, item))) expected = 403
  else if (!item && !mayPutInto(model, person, parentId)) expected = 403
  if (!answers(answer, expected, 'PUT') || parentId === undefined) return
  if (item) {
    if (item.bytes !== bytes) setBytes(item, bytes)
    return
  }
  const row = await app.db.row<{ id: string }>(sql`
    select id from files where org_id = ${orgId} and name = ${name} order by id desc limit 1`)
  assert.ok(row && !itemOf(model, row.id))
  addItem(model, { id: row.id, source: 'upload', name, parentId, createdBy: person.actor.userId, bytes })
}

const mkcol = async (history: History, step: Step, person: Person): Promise<void> => {
  const { app, model, orgId } = history
  const target = pickTarget(history, person, step.on)
  const { item, name, parentId } = target
  const answer = await dav(history, person, 'MKCOL', target)
  const expected = item ? 405 : parentId === undefined ? 409 : mayPutInto(model, person, parentId) ? 201 : 403
  if (!answers(answer, expected, 'MKCOL') || parentId === undefined) return
  const row = await app.db.row<{ id: string }>(sql`
    select id from files where org_id = ${orgId} and name = ${name} order by id desc limit 1`)
  assert.ok(row && !itemOf(model, row.id))
  addItem(model, { id: row.id, source: 'folder', name, parentId, createdBy: person.actor.userId })
}

const isDeletable = (model: Model, person: Person, item: Item): boolean =>
  writes(model, person, item) && isTreeWritable(model, person, item)

const remove = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const target = pickTarget(history, person, step.on)
  const { item } = target
  const answer = await dav(history, person, 'DELETE', target)
  const expected = item === undefined ? 404 : isDeletable(model, person, item) ? 204 : 403
  if (answers(answer, expected, 'DELETE') && item) trashItem(model, item)
}

const isWithin = (inner: Item[], outer: Item[]): boolean =>
  outer.length <= inner.length && outer.every((item, index) => inner[index] === item)

interface Transfer {
  source: Target
  destination: Target
  isOverwriting: boolean
}

/** The status of a COPY or MOVE that does not depend on who may change what; undefined for one that does. */
const statusOfTransfer = ({ source, destination, isOverwriting }: Transfer): number | undefined => {
  if (!source.item) return 404
  if (isWithin(destination.chain, source.chain)) return 403
  if (destination.item && isWithin(source.chain, destination.chain)) return 403
  if (destination.parentId === undefined) return 409
  return destination.item && !isOverwriting ? 412 : undefined
}

/** Whether a file takes the place of a file: then that gets its bytes as a new version. */
const isNewVersion = ({ source, destination }: Transfer, contentOfSource: Item | undefined): boolean =>
  contentOfSource !== undefined && source.item?.source !== 'folder' && destination.item?.source === 'upload'

const move = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const transfer = pickTransfer(history, step, person)
  const { source, destination, isOverwriting } = transfer
  const { item } = source
  const replaced = destination.item
  const answer = await dav(history, person, 'MOVE', {
    ...source,
    headers: { destination: hrefOf(destination.path), overwrite: isOverwriting ? 'T' : 'F' },
  })
  const isVersion = isNewVersion(transfer, item?.source === 'upload' ? item : undefined)
  let expected = statusOfTransfer(transfer)
  const parentId = destination.parentId ?? null
  if (expected === undefined && item) {
    const isAllowed =
      (replaced === undefined || isDeletable(model, person, replaced)) &&
      (parentId === item.parentId || isVersion
        ? writes(model, person, item)
        : statusOfMove(model, person, item, parentId) === 200)
    expected = isAllowed ? (replaced ? 204 : 201) : 403
  }
  if (!answers(answer, expected ?? 0, 'MOVE') || !item) return
  if (replaced && isVersion) {
    const hasHistory = item.versions.size > 0
    if (replaced.bytes !== item.bytes) setBytes(replaced, item.bytes)
    if (hasHistory) trashItem(model, item)
    else purgeItems([item])
    return
  }
  if (replaced) trashItem(model, replaced)
  item.name = replaced?.name ?? destination.name
  moveItem(model, item, parentId)
}

const copy = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const transfer = pickTransfer(history, step, person)
  const { source, destination, isOverwriting } = transfer
  const { item } = source
  const replaced = destination.item
  const answer = await dav(history, person, 'COPY', {
    ...source,
    headers: { destination: hrefOf(destination.path), overwrite: isOverwriting ? 'T' : 'F' },
  })
  let expected = statusOfTransfer(transfer)
  const parentId = destination.parentId ?? null
  const content = item && contentOf(model, person, item)
  const isVersion = isNewVersion(transfer, content)
  const copied = item ? treeOf(model, item).filter((one) => isCopied(model, person, one, item)) : []
  if (expected === undefined) {
    const known = itemOf(model, parentId)?.guards ?? []
    const guards = copied.flatMap((one) => [...one.guards, ...(contentOf(model, person, one)?.guards ?? [])])
    const isAllowed =
      (replaced === undefined || isDeletable(model, person, replaced)) &&
      mayPutInto(model, person, parentId) &&
      guards.every((guard) => known.includes(guard))
    expected = isAllowed ? (replaced ? 204 : 201) : 403
  }
  if (!answers(answer, expected, 'COPY') || !item) return
  if (replaced && isVersion && content) {
    if (replaced.bytes !== content.bytes) setBytes(replaced, content.bytes)
    return
  }
  if (replaced) trashItem(model, replaced)
  await adoptCopies(history, person, { item, copied, parentId, name: replaced?.name ?? destination.name })
}

/** Whether an item of a copied tree is copied: it and the folders above it are open to the person, and it has bytes. */
const isCopied = (model: Model, person: Person, item: Item, root: Item): boolean => {
  const parent = itemOf(model, item.parentId)
  const isReached = item === root || (parent !== undefined && isCopied(model, person, parent, root))
  return (
    isReached &&
    reads(model, person, item) &&
    (item.source === 'folder' || contentOf(model, person, item) !== undefined)
  )
}

/** Finds the rows of copies and compares them with what must have been copied. */
const adoptCopies = async (
  { app, model, orgId }: History,
  person: Person,
  { item, copied, parentId, name }: { item: Item; copied: Item[]; parentId: string | null; name: string },
): Promise<void> => {
  const known = model.items.map(({ id }) => id)
  const rows = await app.db.rows<{
    id: string
    parentId: string | null
    name: string
    source: 'upload' | 'folder'
  }>(sql`
    select id, parent_id, name, source from files
    where org_id = ${orgId} and deleted_at is null and id <> all(${known}::uuid[])`)
  assert.equal(rows.length, copied.length, 'copies')
  const taken = new Set<string>()
  const adopt = (original: Item, place: string | null, as: string): void => {
    const source = original.source === 'folder' ? 'folder' : 'upload'
    const row = rows.find(
      (one) => !taken.has(one.id) && one.parentId === place && one.name === as && one.source === source,
    )
    assert.ok(row, `no copy of ${original.name}`)
    taken.add(row.id)
    const bytes = contentOf(model, person, original)?.bytes ?? ''
    addItem(model, { id: row.id, source, name: as, parentId: place, createdBy: person.actor.userId, bytes })
    for (const child of copied.filter((one) => one.parentId === original.id)) adopt(child, row.id, child.name)
  }
  adopt(item, parentId, name)
}

const pickTransfer = (history: History, step: Step, person: Person): Transfer => ({
  source: pickTarget(history, person, step.on),
  destination: pickTarget(history, person, step.to),
  isOverwriting: step.n % 4 !== 3,
})

export const davSteps: StepKinds = {
  'dav get': get,
  'dav put': put,
  'dav mkcol': mkcol,
  'dav delete': remove,
  'dav move': move,
  'dav copy': copy,
}
