import assert from 'node:assert/strict'
import { sql } from '../../../src/platform/database/database.ts'
import { pathOf, putAccess } from '../files.ts'
import type { Grant } from '../files.ts'
import { shareCalls } from '../shares.ts'
import { answers, call, pick, pickItem } from './history.ts'
import type { History, Step, StepKinds } from './history.ts'
import { addItem, found, inheritGuards, isOpenShare, isShared, isTreeWritable, itemOf, reads, writes } from './model.ts'
import type { Item, Model, Person, ShareModel } from './model.ts'
import { contentOfStep, statusOfChange } from './tree-steps.ts'

const password = 'open sesame'

/** Passwords have a limit of ten a minute. */
const beforePassword = ({ app }: History): void => {
  app.limitClock.ms += 6_000
}

const share = async (history: History, step: Step, person: Person): Promise<void> => {
  const { app, model } = history
  const item = pickItem(history, step.on)
  if (!item) return
  const permission = (['view', 'download', 'upload'] as const)[step.to % 3] as ShareModel['permission']
  const most = step.n % 2 === 0 || permission === 'view' ? null : 2
  const limits = most === null ? {} : permission === 'upload' ? { maxUploads: most } : { maxDownloads: most }
  let expected = statusOfChange(model, person, item)
  if (expected === 200 && (item.source === 'link' || (permission === 'upload' && item.source !== 'folder')))
    expected = 400
  const hasPassword = step.n % 5 === 0
  if (hasPassword) beforePassword(history)
  const json = { permission, ...limits, ...(hasPassword ? { password } : {}) }
  const answer = await call(history, person, 'POST', { path: `/${item.id}/shares`, json })
  if (!answers(answer, expected === 200 ? 201 : expected, 'share')) return
  model.shares.push({
    id: answer.body.data.id,
    path: pathOf(app, answer.body.data.url),
    fileId: item.id,
    permission,
    creator: person,
    guards: item.guards,
    most: permission === 'upload' ? (most ?? 100) : most,
    used: 0,
    hasPassword,
    isRevoked: false,
    isExpired: false,
    isEnded: false,
  })
}

const changeShare = async (history: History, step: Step, person: Person): Promise<void> => {
  const { model } = history
  const shared = pick(model.shares, step.on)
  const file = itemOf(model, shared?.fileId ?? null)
  if (!shared || !file) return
  const path = `/${shared.fileId}/shares/${shared.id}`
  if (step.kind === 'revoke') {
    const isFound = file.state !== 'purged' && reads(model, person, file)
    const expected = !isFound ? 404 : !writes(model, person, file) ? 403 : shared.isRevoked ? 404 : 200
    if (answers(await call(history, person, 'DELETE', { path }), expected, 'revoke')) shared.isRevoked = true
    return
  }
  const most = (step.n % 3) + 1
  const isExtension = step.kind === 'extend share'
  const limits = shared.permission === 'upload' ? { maxUploads: most } : { maxDownloads: most }
  let expected = statusOfChange(model, person, file)
  if (expected === 200 && shared.isRevoked) expected = 404
  if (expected === 200 && shared.permission === 'view' && !isExtension) expected = 400
  const json = isExtension ? { expiresAt: '2099-01-01T00:00:00.000Z' } : limits
  if (!answers(await call(history, person, 'PATCH', { path, json }), expected, 'share change')) return
  if (isExtension) shared.isExpired = false
  else shared.most = most
}

/** The time until which a share works has passed. */
const expire = async ({ app, model, orgId }: History, step: Step): Promise<void> => {
  const shared = pick(model.shares, step.on)
  if (!shared) return
  await app.db.execute(sql`update file_shares set expires_at = now() where org_id = ${orgId} and id = ${shared.id}`)
  shared.isExpired = true
}

/** The query of a visitor who has entered the password of an open share. Without it, the share reveals nothing. */
const accessTo = async (history: History, shared: ShareModel, item: Item): Promise<string> => {
  if (!shared.hasPassword) return ''
  const visitor = shareCalls(history.app)
  const asked = await visitor.download(shared.path, item.id)
  assert.equal(asked.status, 302, `without the password: ${asked.text}`)
  beforePassword(history)
  const entered = await visitor.enter(shared.path, password)
  assert.equal(entered.status, 303, `the password: ${entered.text}`)
  return new URLSearchParams(entered.headers.get('location')?.split('?')[1]).get('access') ?? ''
}

/** A stranger with the URL of a share asks for a file, in the share or not. */
const visit = async (history: History, step: Step): Promise<void> => {
  const { app, model } = history
  const shared = pick(model.shares, step.on)
  if (!shared) return
  const below = model.items.filter((item) => isShared(model, shared, item) && item.source === 'upload')
  const item = (step.to % 2 === 0 ? pick(below, step.n) : undefined) ?? pickItem(history, step.n)
  if (!item) return
  const isOpen = isOpenShare(model, shared)
  const access = isOpen ? await accessTo(history, shared, item) : ''
  const page = await shareCalls(app).visit(access === '' ? shared.path : `${shared.path}?access=${access}`)
  assert.equal(page.status, isOpen ? 200 : 404, page.text)
  const { status, text } = await shareCalls(app).download(shared.path, item.id, `&access=${access}`)
  let expected = isOpen && isShared(model, shared, item) ? 200 : 404
  if (expected === 200 && item.source === 'folder') expected = 400
  else if (expected === 200 && shared.permission === 'view') expected = 403
  else if (expected === 200 && shared.most !== null && shared.used >= shared.most) expected = 403
  assert.equal(status, expected, `download from a share: ${text}`)
  if (status !== 200) return
  assert.equal(text, item.bytes)
  shared.used += 1
}

const drop = async (history: History, step: Step): Promise<void> => {
  const { app, model, orgId } = history
  const boxes = model.shares.filter(({ permission }) => permission === 'upload')
  const shared = (step.to % 8 === 7 ? pick(model.shares, step.on) : undefined) ?? pick(boxes, step.on)
  if (!shared) return
  const bytes = contentOfStep(step)
  const file = itemOf(model, shared.fileId)
  const access = file && isOpenShare(model, shared) ? await accessTo(history, shared, file) : ''
  const part = { filename: 'a.txt', value: bytes }
  const { status, text } = await shareCalls(app).drop(shared.path, part, [], `?access=${access}`)
  const isFull = shared.most !== null && shared.used >= shared.most
  const expected = !isOpenShare(model, shared) ? 404 : shared.permission !== 'upload' || isFull ? 403 : 303
  assert.equal(status, expected, `upload to a share: ${text}`)
  if (status !== 303) return
  shared.used += 1
  const row = await app.db.row<{ id: string }>(sql`
    select id from files where org_id = ${orgId} and parent_id = ${shared.fileId} order by id desc limit 1`)
  assert.ok(row && !itemOf(model, row.id))
  const createdBy = shared.creator.actor.userId
  addItem(model, { id: row.id, source: 'upload', name: 'a.txt', parentId: shared.fileId, createdBy, bytes })
}

const grantsOf = ({ people }: Model, { to, n }: Step): Grant[] => {
  const access = (bit: number): Grant['access'] => ((n >> bit) % 2 === 0 ? 'write' : 'read')
  const [owner, admin, ann, bob] = people.map(({ actor }) => actor)
  const all: (Grant | undefined)[] = [
    admin && { kind: 'role', subject: 'admin', access: access(0) },
    ann && { kind: 'user', subject: ann.userId, access: access(1) },
    bob && { kind: 'user', subject: bob.userId, access: access(2) },
    { kind: 'role', subject: 'member', access: access(1) },
    owner && { kind: 'workspace', subject: owner.workspaceId, access: access(0) },
  ]
  return all.filter((_grant, index) => (to >> index) % 2 === 1).flatMap((grant) => grant ?? [])
}

const statusOfRestriction = (
  model: Model,
  person: Person,
  item: Item,
  { restricted, grants }: { restricted: boolean; grants: Grant[] },
): number => {
  if (!found(model, person, item)) return 404
  if (item.source !== 'folder') return 400
  const { role, actor, isInWorkspace } = person
  const manages = role !== 'member' || item.createdBy === actor.userId
  if (!writes(model, person, item) || !manages) return 403
  const before = model.grants.get(item.id)
  const hidden = grants.some(({ kind }) => kind === 'workspace') && role === 'member' && !isInWorkspace
  if (hidden && !before?.some(({ kind }) => kind === 'workspace')) return 400
  if (restricted !== (before !== undefined) && !isTreeWritable(model, person, item)) return 403
  if (!restricted) return 200
  // With the new grants they must still have access.
  const after = { ...model, grants: new Map(model.grants).set(item.id, grants) }
  return writes(after, person, { ...item, guards: [...item.guards, item.id] }) ? 200 : 400
}

const restrict = async (history: History, step: Step, person: Person): Promise<void> => {
  const { app, model } = history
  const folders = model.items.filter(({ source, state }) => source === 'folder' && state === 'live')
  const item = step.on % 8 === 7 ? pickItem(history, step.on >> 3) : pick(folders, step.on >> 3)
  if (!item) return
  const restricted = step.kind === 'restrict'
  const grants = restricted ? grantsOf(model, step) : []
  const expected = statusOfRestriction(model, person, item, { restricted, grants })
  const answer = await putAccess(app, person.actor, item.id, { restricted, grants })
  if (!answers(answer, expected, step.kind)) return
  if (restricted) model.grants.set(item.id, grants)
  else model.grants.delete(item.id)
  inheritGuards(model)
}

export const sharingSteps: StepKinds = {
  share,
  'change share': changeShare,
  'extend share': changeShare,
  expire,
  revoke: changeShare,
  visit,
  drop,
  restrict,
  unrestrict: restrict,
}
