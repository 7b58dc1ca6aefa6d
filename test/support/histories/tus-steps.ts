import assert from 'node:assert/strict'
import { request } from 'node:http'
import { removeExpired } from '../../../src/files/resumable/resumable.ts'
import { sql } from '../../../src/platform/database/database.ts'
import { until } from '../until.ts'
import { append, ask, begin, metadataOf } from '../uploads/tus.ts'
import { answers, names, pick, pickPlace } from './history.ts'
import type { History, Step, StepKinds } from './history.ts'
import { addItem, itemOf } from './model.ts'
import type { Model, Person, UploadModel } from './model.ts'
import { contentOfStep, statusOfPlace } from './tree-steps.ts'

const isFull = ({ bytes, received }: UploadModel): boolean => received === bytes.length

/** The place of an upload; one that was deleted for good is as good as a wrong one. */
const placeOf = (model: Model, { owner, parentId }: UploadModel): number => statusOfPlace(model, owner, parentId)

/** What happens to an upload that has all its bytes: its file is made, or it ends, or it waits for the access. */
const settle = (model: Model, upload: UploadModel, fileId: string | null): number => {
  if (!isFull(upload) || upload.isPartial) return 204
  const place = placeOf(model, upload)
  if (place === 400) upload.state = 'ended'
  if (place !== 201) return place
  upload.state = 'complete'
  assert.ok(fileId !== null, 'the file was not made')
  const { name, parentId, bytes, owner } = upload
  addItem(model, { id: fileId, source: 'upload', name, parentId, createdBy: owner.actor.userId, bytes })
  return 204
}

const create = async ({ app, model, ...history }: History, step: Step, person: Person): Promise<void> => {
  const parentId = pickPlace({ app, model, ...history }, step.to)
  const isPartial = step.on % 3 === 0
  const name = names[step.on % 4] as string
  const bytes = contentOfStep(step)
  const answer = await begin(app, person.actor, {
    size: bytes.length,
    metadata: { name, type: 'text/plain', ...(parentId === null ? {} : { parentId }) },
    ...(isPartial ? { headers: { 'upload-concat': 'partial' } } : {}),
  })
  const expected = isPartial ? 201 : statusOfPlace(model, person, parentId)
  if (!answers(answer, expected, 'upload by tus')) return
  const path = new URL(answer.headers.get('location') ?? '').pathname
  model.uploads.push({
    path,
    owner: person,
    isPartial,
    name,
    parentId: isPartial ? null : parentId,
    bytes,
    received: 0,
    state: 'open',
  })
}

const patch = async ({ app, model }: History, step: Step, person: Person): Promise<void> => {
  const open = model.uploads.filter(({ state }) => state === 'open')
  const upload = (step.to % 8 === 7 ? pick(model.uploads, step.on) : undefined) ?? pick(open, step.on)
  if (!upload) return
  const actor = step.to % 8 === 6 ? person : upload.owner
  const wrong = step.n % 8 === 7 ? 1 : 0
  const length = step.to % 2 === 0 ? upload.bytes.length : 1 + (step.n % 6)
  const end = Math.min(upload.bytes.length, upload.received + length)
  const body = Buffer.from(upload.bytes.slice(upload.received, end))
  const answer = await append(app, actor.actor, upload.path, { offset: upload.received + wrong, body })
  const isOwn = actor === upload.owner
  if (!isOwn || upload.state === 'ended') return void answers(answer, 404, 'PATCH')
  if (upload.state === 'complete' || wrong > 0) return void answers(answer, 409, 'PATCH')
  upload.received = end
  answers(answer, settle(model, upload, answer.headers.get('atrium-file-id')), 'PATCH')
}

/** Sends a part of the bytes and cuts the connection; what has arrived is known by asking. */
const cut = async ({ app, model, orgId }: History, step: Step): Promise<void> => {
  const open = model.uploads.filter((upload) => upload.state === 'open' && upload.received + 2 < upload.bytes.length)
  const upload = pick(open, step.on)
  if (!upload) return
  const rest = upload.bytes.length - upload.received
  const sent = request(app.url + upload.path, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${upload.owner.actor.key}`,
      'tus-resumable': '1.0.0',
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(upload.received),
      'content-length': String(rest),
    },
  })
  sent.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => void sent.on('close', () => resolve()))
  const length = 1 + (step.n % (rest - 1))
  await new Promise<void>((resolve) => {
    sent.write(upload.bytes.slice(upload.received, upload.received + length), () => resolve())
  })
  const id = upload.path.split('/').at(-1)
  await until('the server receives the bytes', async () => {
    const row = await app.db.row(sql`
      select 1 from uploads where org_id = ${orgId} and id = ${id} and lease_token is not null`)
    return row !== undefined
  })
  sent.destroy()
  await closed
  const { status, headers } = await ask(app, upload.owner.actor, upload.path)
  assert.equal(status, 200)
  const offset = Number(headers.get('upload-offset'))
  assert.ok(offset === upload.received || offset === upload.received + length, `offset ${offset}`)
  upload.received = offset
}

const continueUpload = async ({ app, model }: History, step: Step): Promise<void> => {
  const upload = pick(model.uploads, step.on)
  if (!upload) return
  const before = upload.state
  const answer = await ask(app, upload.owner.actor, upload.path)
  if (before === 'ended') return assert.equal(answer.status, 404)
  const fileId = answer.headers.get('atrium-file-id')
  const expected = before === 'open' ? settle(model, upload, fileId) : 204
  assert.equal(answer.status, expected === 204 ? 200 : expected, 'HEAD')
  if (expected === 204) assert.equal(answer.headers.get('upload-offset'), String(upload.received))
}

const terminate = async ({ app, model }: History, step: Step, person: Person): Promise<void> => {
  const upload = pick(model.uploads, step.on)
  if (!upload) return
  const { actor } = step.to % 4 === 3 ? person : upload.owner
  const headers = { 'tus-resumable': '1.0.0' }
  const answer = await app.call('DELETE', upload.path, { as: actor, headers })
  if (actor !== upload.owner.actor || upload.state === 'ended') return void answers(answer, 404, 'termination')
  answers(answer, 204, 'termination')
  upload.state = 'ended'
}

const concatenate = async (history: History, step: Step, person: Person): Promise<void> => {
  const { app, model } = history
  const mine = model.uploads.filter((upload) => upload.isPartial && upload.owner === person && upload.state === 'open')
  if (mine.length === 0) return
  const parts = step.n % 2 === 0 ? mine : mine.slice(-1)
  for (const part of step.n % 3 === 0 ? [] : parts) {
    const body = Buffer.from(part.bytes.slice(part.received))
    if (body.length > 0) await append(app, person.actor, part.path, { offset: part.received, body })
    part.received = part.bytes.length
  }
  const parentId = pickPlace(history, step.to)
  const place = statusOfPlace(model, person, parentId)
  const paths = parts.map(({ path }) => app.url + path)
  const metadata = { name: 'a.txt', type: 'text/plain', ...(parentId === null ? {} : { parentId }) }
  const answer = await app.call('POST', '/api/v1/uploads', {
    as: person.actor,
    headers: {
      'tus-resumable': '1.0.0',
      'upload-concat': `final;${paths.join(' ')}`,
      'upload-metadata': metadataOf(metadata),
    },
  })
  const isComplete = parts.every(isFull)
  if (!answers(answer, place === 201 && !isComplete ? 409 : place, 'concatenation')) return
  const id = answer.headers.get('atrium-file-id')
  assert.ok(id !== null && itemOf(model, id) === undefined)
  const bytes = parts.map((part) => part.bytes).join('')
  for (const part of parts) part.state = 'ended'
  addItem(model, { id, source: 'upload', name: 'a.txt', parentId, createdBy: person.actor.userId, bytes })
}

/** An upload expires; it is remembered for some days. */
const expire = async ({ app, model, orgId }: History, step: Step): Promise<void> => {
  const open = model.uploads.filter(({ state }) => state === 'open')
  const upload = pick(open, step.on)
  if (!upload) return
  const id = upload.path.split('/').at(-1)
  await app.db.execute(sql`
    update uploads set expires_at = now() - interval '1 second' where org_id = ${orgId} and id = ${id}`)
  assert.equal((await ask(app, upload.owner.actor, upload.path)).status, 410)
  await removeExpired(app.deps)
  assert.equal((await ask(app, upload.owner.actor, upload.path)).status, 410)
  await app.db.execute(sql`delete from uploads where org_id = ${orgId} and id = ${id}`)
  upload.state = 'ended'
}

export const tusSteps: StepKinds = {
  'tus create': create,
  'tus patch': patch,
  'tus cut': cut,
  'tus continue': continueUpload,
  'tus delete': terminate,
  'tus join': concatenate,
  'tus expire': expire,
}
