import assert from 'node:assert/strict'
import { releaseUnused } from '../../../src/files/blobs/blobs.ts'
import { purgeDue } from '../../../src/files/trash/purge.ts'
import { sql } from '../../../src/platform/database/database.ts'
import { formBody, formType } from '../files.ts'
import { answers, call, names, pick, pickItem, pickPlace } from './history.ts'
import type { History, Step, StepKinds } from './history.ts'
import {
  addItem,
  contentOf,
  deletedWith,
  found,
  inheritGuards,
  isInside,
  isTreeWritable,
  itemOf,
  liveItem,
  may,
  mayPurge,
  purgeItems,
  reads,
  setBytes,
  trashItem,
  treeOf,
  writes,
} from './model.ts'
import type { Item, Model, Person } from './model.ts'

/** The status for putting something into a folder: 201 when it can. */
export const statusOfPlace = (model: Model, person: Person, parentId: string | null): number => {
  if (parentId === null) return 201
  const folder = liveItem(model, parentId)
  if (folder?.source !== 'folder' || !reads(model, person, folder)) return 400
  return writes(model, person, folder) ? 201 : 403
}

/** The status for changing an item that is found by its id: 200 when it can be changed. */
export const statusOfChange = (model: Model, person: Person, item: Item): number => {
  if (!found(model, person, item)) return 404
  return writes(model, person, item) ? 200 : 403
}

const statusOfVersions = (model: Model, person: Person, item: Item): number => {
  const status = statusOfChange(model, person, item)
  return status === 200 && item.source !== 'upload' ? 400 : status
}

export const contentOfStep = ({ n }: Step): string => `content ${n % 5}`.padEnd(9 + (n % 5), '.')

const crash = new Error('killed')
const unlessKilled = (work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    if (error !== crash) throw error
  })

/** Runs the work while the process dies after it has stored bytes, before a file has them. */
const whilePutFails = async <T>({ app }: History, { killedAt }: Step, work: () => Promise<T>): Promise<T> => {
  const { objects } = app.deps
  const { put } = objects
  if (killedAt === 'after') {
    objects.put = async (...given) => {
      await put(...given)
      throw crash
    }
  }
  try {
    return await work()
  } finally {
    objects.put = put
  }
}

const upload = async (history: History, step: Step, person: Person): Promise<void> => {
  const { app, model } = history
  const parentId = pickPlace(history, step.to)
  const name = names[step.on % 4] as string
  const bytes = contentOfStep(step)
  const body = formBody([
    { name: 'file', filename: name, type: 'text/plain', value: bytes },
    ...(parentId === null ? [] : [{ name: 'parentId', value: parentId }]),
  ])
  const answer = await whilePutFails(history, step, () =>
    app.call('POST', '/api/v1/files', { as: person.actor, body, headers: { 'content-type': formType } }),
  )
  if (step.killedAt === 'after') return assert.ok(answer.status >= 400)
  if (!answers(answer, statusOfPlace(model, person, parentId), 'upload')) return
  const { id } = answer.body.data.file
  addItem(model, { id, source: 'upload', name, parentId, createdBy: person.actor.userId, bytes })
}

const createFolder = async (history: History, step: Step, person: Person): Promise<void> => {
  const parentId = pickPlace(history, step.to)
  const name = names[step.on % 4] as string
  const answer = await call(history, person, 'POST', { path: '', json: { source: 'folder', name, parentId } })
  if (!answers(answer, statusOfPlace(history.model, person, parentId), 'folder')) return
  const { id } = answer.body.data.file
  addItem(history.model, { id, source: 'folder', name, parentId, createdBy: person.actor.userId })
}

const link = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const target = pickItem(history, step.on)
  if (!target) return
  const parentId = pickPlace(history, step.to)
  const content = found(model, person, target) ? contentOf(model, person, target) : undefined
  const isFolder = found(model, person, target) && target.source === 'folder'
  const answer = await call(history, person, 'POST', {
    path: '',
    json: { source: 'link', targetFileId: target.id, parentId },
  })
  const expected = isFolder ? 400 : content ? statusOfPlace(model, person, parentId) : 404
  if (!answers(answer, expected, 'link')) return
  const { id, name } = answer.body.data.file
  assert.equal(name, target.source === 'link' ? name : target.name)
  const targetId = content?.id ?? null
  addItem(model, { id, source: 'link', name, parentId, createdBy: person.actor.userId, targetId })
}

const overwrite = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const item = pickItem(history, step.on)
  if (!item) return
  const bytes = contentOfStep(step)
  const expected = statusOfVersions(model, person, item)
  const answer = await whilePutFails(history, step, () =>
    call(history, person, 'PUT', { path: `/${item.id}/content`, body: bytes }),
  )
  if (step.killedAt === 'after') return assert.ok(answer.status >= 400)
  if (answers(answer, expected, 'overwrite') && bytes !== item.bytes) setBytes(item, bytes)
}

const changeVersion = async (history: History, step: Step, person: Person): Promise<void> => {
  const { kind, on, to } = step
  const item = pickItem(history, on)
  if (!item) return
  const status = statusOfVersions(history.model, person, item)
  const version = to % 5 === 0 ? item.version : (pick([...item.versions.keys()], to) ?? 99)
  const former = item.versions.get(version)
  const isCurrent = version === item.version
  const missing = former === undefined && !isCurrent
  const path = `/${item.id}/versions/${version}`
  if (kind === 'revert') {
    const answer = await call(history, person, 'POST', { path: `${path}/restore` })
    if (answers(answer, status === 200 && missing ? 404 : status, kind) && former !== undefined) setBytes(item, former)
  } else if (kind === 'forget') {
    const answer = await call(history, person, 'DELETE', { path })
    const expected = status !== 200 ? status : isCurrent ? 400 : missing ? 404 : 200
    if (answers(answer, expected, kind)) item.versions.delete(version)
  } else {
    const answer = await call(history, person, 'PATCH', { path, json: { label: 'kept' } })
    answers(answer, status === 200 && missing ? 404 : status, kind)
  }
}

/** The status of a move, without that of the folder itself. */
export const statusOfMove = (model: Model, person: Person, item: Item, parentId: string | null): number => {
  const change = statusOfChange(model, person, item)
  if (change === 404) return 404
  const place = statusOfPlace(model, person, parentId)
  if (place !== 201) return place
  if (change === 403) return 403
  if (item.source !== 'folder' || parentId === item.parentId) return 200
  if (isInside(model, parentId, item.id)) return 400
  const above = itemOf(model, parentId)?.guards ?? []
  const isSame = above.join() === item.guards.filter((guard) => guard !== item.id).join()
  return isSame || isTreeWritable(model, person, item) ? 200 : 403
}

export const moveItem = (model: Model, item: Item, parentId: string | null): void => {
  item.parentId = parentId
  inheritGuards(model)
}

const move = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const item = pickItem(history, step.on)
  if (!item) return
  const parentId = pickPlace(history, step.to)
  const expected = statusOfMove(model, person, item, parentId)
  const answer = await call(history, person, 'PATCH', { path: `/${item.id}`, json: { parentId } })
  if (answers(answer, expected, 'move')) moveItem(model, item, parentId)
}

const rename = async (history: History, step: Step, person: Person): Promise<void> => {
  const item = pickItem(history, step.on)
  if (!item) return
  const name = names[step.to % 4] as string
  const answer = await call(history, person, 'PATCH', { path: `/${item.id}`, json: { name } })
  if (answers(answer, statusOfChange(history.model, person, item), 'rename')) item.name = name
}

export const statusOfDeletion = (model: Model, person: Person, item: Item): number => {
  const status = statusOfChange(model, person, item)
  return status === 200 && !isTreeWritable(model, person, item) ? 403 : status
}

const trash = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const item = pickItem(history, step.on)
  if (!item) return
  const answer = await call(history, person, 'DELETE', { path: `/${item.id}` })
  if (answers(answer, statusOfDeletion(model, person, item), 'trash')) trashItem(model, item)
}

/** The status for an item in the trash that was deleted by itself. */
const statusInTrash = (model: Model, person: Person, item: Item): number => {
  if (item.state !== 'trashed' || item.trashedWith !== item.id || !reads(model, person, item)) return 404
  return writes(model, person, item) ? 200 : 403
}

const deleteForGood = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const item = pickItem(history, step.on)
  if (!item) return
  let expected = statusOfDeletion(model, person, item)
  if (expected === 404) expected = statusInTrash(model, person, item)
  if (expected === 200 && item.state === 'trashed' && !mayPurge(model, person, item)) expected = 403
  const answer = await call(history, person, 'DELETE', { path: `/${item.id}?permanent=true` })
  if (!answers(answer, expected, 'delete')) return
  purgeItems(item.state === 'live' ? treeOf(model, item) : deletedWith(model, item.id))
}

const restore = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const trashed = model.items.filter(({ id, trashedWith, state }) => state === 'trashed' && trashedWith === id)
  const item = step.on % 8 === 7 ? pickItem(history, step.on >> 3) : pick(trashed, step.on >> 3)
  if (!item) return
  let expected = statusInTrash(model, person, item)
  const folder = liveItem(model, item.parentId)
  const above = item.guards.filter((guard) => guard !== item.id)
  if (expected === 200 && folder && !reads(model, person, folder)) expected = 404
  if (expected === 200 && folder && !writes(model, person, folder)) expected = 403
  if (expected === 200 && !folder && above.length > 0 && person.role !== 'owner') expected = 409
  const answer = await call(history, person, 'POST', { path: `/${item.id}/restore` })
  if (!answers(answer, expected, 'restore')) return
  for (const one of deletedWith(model, item.id)) Object.assign(one, { state: 'live', trashedWith: undefined })
  moveItem(model, item, folder?.id ?? null)
}

const empty = async (history: History, _step: Step, person: Person): Promise<void> => {
  const { model } = history
  answers(await call(history, person, 'DELETE', { path: '/trash' }), 200, 'empty')
  const roots = model.items.filter(({ id, trashedWith, state }) => state === 'trashed' && trashedWith === id)
  const gone = roots.filter((root) => mayPurge(model, person, root))
  purgeItems(gone.flatMap(({ id }) => deletedWith(model, id)))
}

/** The time of a deletion in the trash ends, and a process that purges it is killed or not. */
const purge = async (history: History, step: Step): Promise<void> => {
  const { app, model, orgId } = history
  const roots = model.items.filter(({ id, trashedWith, state }) => state === 'trashed' && trashedWith === id)
  const root = pick(roots, step.on)
  if (!root) return
  await app.db.execute(sql`update trash set purge_at = now() where org_id = ${orgId} and file_id = ${root.id}`)
  const enqueue = async (): Promise<void> => {
    if (step.killedAt !== 'never') throw crash
  }
  await unlessKilled(purgeDue({ db: app.db, jobs: { enqueue } }, orgId))
  if (step.killedAt !== 'never') await purgeDue({ db: app.db, jobs: app.deps.jobs }, orgId)
  purgeItems(deletedWith(model, root.id))
}

/** Bytes that no file uses are deleted, by a process that is killed or not. */
const release = async ({ app, orgId }: History, { killedAt }: Step): Promise<void> => {
  const { db } = app
  const { objects } = app.deps
  const dying = {
    ...objects,
    delete: async (key: string): Promise<void> => {
      if (killedAt === 'before') throw crash
      await objects.delete(key)
      if (killedAt === 'after') throw crash
    },
  }
  await unlessKilled(releaseUnused(db, dying, orgId))
}

const archive = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const item = pickItem(history, step.on)
  if (item?.source !== 'folder') return
  const expected = found(model, person, item) ? 200 : 404
  const answer = await call(history, person, 'GET', { path: `/${item.id}/archive` })
  if (!answers(answer, expected, 'archive')) return
  for (const one of treeOf(model, item)) {
    const isReadable = treeOf(model, item).includes(one) && may(model, person, 'read', one.guards)
    if (isReadable && one.source === 'upload') assert.ok(answer.text.includes(one.bytes))
  }
}

export const treeSteps: StepKinds = {
  upload,
  folder: createFolder,
  link,
  overwrite,
  revert: changeVersion,
  forget: changeVersion,
  label: changeVersion,
  move,
  rename,
  trash,
  delete: deleteForGood,
  restore,
  empty,
  purge,
  release,
  archive,
}
