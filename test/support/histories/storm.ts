import assert from 'node:assert/strict'
import { sql } from '../../../src/platform/database/database.ts'
import type { Answer, TestActor } from '../../harness.ts'
import { countsAreExact, guardsAreExact, putAccess, sendForm } from '../files.ts'
import { shareCalls } from '../shares.ts'
import { begin } from '../uploads/tus.ts'
import { names, pick } from './history.ts'
import type { History, Step } from './history.ts'
import type { Model, Person } from './model.ts'

export interface Known {
  files: string[]
  folders: string[]
  boxes: string[]
}

type Request = (history: History, known: Known, step: Step, as: TestActor) => Promise<Answer | undefined>

const type = 'text/plain'
const bytesOf = ({ n }: Step): string => `content ${n % 4}`
const fileOf = ({ files, folders }: Known, n: number): string => pick([...files, ...folders], n) ?? ''
const folderOf = ({ folders }: Known, n: number): string | null =>
  n % 4 === 0 ? null : (pick(folders, n >> 2) ?? null)

const call =
  (method: string, ofStep: (known: Known, step: Step) => { path: string; json?: object; body?: string }): Request =>
  ({ app }, known, step, as) => {
    const { path, ...options } = ofStep(known, step)
    return app.call(method, `/api/v1/files${path}`, { as, ...options })
  }

const dav =
  (method: string): Request =>
  ({ app }, _known, { on, to, n }, as) => {
    const path = (at: number): string =>
      `/dav/${at % 2 === 0 ? '' : `${names[2 + ((at >> 1) % 2)]}/`}${names[(at >> 2) % 4]}`
    return app.call(method, path(on), {
      as,
      headers: { destination: path(to), ...(method === 'PUT' ? { 'content-type': type } : {}) },
      ...(method === 'PUT' ? { body: `content ${n % 4}` } : {}),
    })
  }

/** Requests that may happen at the same time, with any result but an error of the server. */
export const requests: readonly Request[] = [
  call('PATCH', (known, { on, to }) => ({ path: `/${fileOf(known, on)}`, json: { parentId: folderOf(known, to) } })),
  call('PATCH', (known, { on, to }) => ({
    path: `/${pick(known.folders, on)}`,
    json: { parentId: folderOf(known, to) },
  })),
  call('PATCH', (known, { on, to }) => ({ path: `/${fileOf(known, on)}`, json: { name: names[to % 4] } })),
  call('DELETE', (known, { on }) => ({ path: `/${fileOf(known, on)}` })),
  call('DELETE', (known, { on }) => ({ path: `/${fileOf(known, on)}?permanent=true` })),
  call('POST', (known, { on }) => ({ path: `/${fileOf(known, on)}/restore` })),
  call('POST', (known, { on }) => ({ path: `/${pick(known.folders, on)}/restore` })),
  call('PUT', (known, step) => ({ path: `/${pick(known.files, step.on)}/content`, body: bytesOf(step) })),
  call('POST', (known, { on, to }) => ({ path: `/${pick(known.files, on)}/versions/${(to % 3) + 1}/restore` })),
  call('DELETE', (known, { on, to }) => ({ path: `/${pick(known.files, on)}/versions/${(to % 3) + 1}` })),
  call('POST', (known, { on, to }) => ({
    path: '',
    json: { source: 'link', targetFileId: pick(known.files, on), parentId: folderOf(known, to) },
  })),
  call('POST', (known, { on, to }) => ({
    path: '',
    json: { source: 'folder', name: names[on % 4], parentId: folderOf(known, to) },
  })),
  ({ app }, known, step, as) => {
    const parentId = folderOf(known, step.to)
    return sendForm(app, as, [
      { name: 'file', filename: names[step.on % 4] as string, type, value: bytesOf(step) },
      ...(parentId === null ? [] : [{ name: 'parentId', value: parentId }]),
    ])
  },
  ({ app }, known, { on, n }, as) =>
    putAccess(app, as, pick(known.folders, on) ?? '', {
      restricted: n % 2 === 0,
      grants: n % 2 === 0 ? [{ kind: 'role', subject: 'member', access: n % 4 === 0 ? 'write' : 'read' }] : [],
    }),
  async ({ app }, known, step) => {
    const box = pick(known.boxes, step.on)
    return box === undefined ? undefined : shareCalls(app).drop(box, { value: bytesOf(step) })
  },
  ({ app }, known, step, as) => {
    const parentId = folderOf(known, step.to)
    const body = Buffer.from(bytesOf(step))
    const metadata = { name: names[step.on % 4] as string, type, ...(parentId === null ? {} : { parentId }) }
    return begin(app, as, { size: body.length, metadata, body })
  },
  ...['PUT', 'PUT', 'MKCOL', 'DELETE', 'MOVE', 'MOVE', 'COPY', 'COPY'].map(dav),
]

export const listKnown = async ({ app, orgId }: History, boxes: string[]): Promise<Known> => {
  const rows = await app.db.rows<{ id: string; source: string }>(sql`
    select id, source from files where org_id = ${orgId} and (deleted_at is null or trash_id is not null) order by id`)
  const idsOf = (isFolder: boolean): string[] =>
    rows.filter(({ source }) => (source === 'folder') === isFolder).map(({ id }) => id)
  return { files: idsOf(false), folders: idsOf(true), boxes }
}

/** Two folders of the owner into which strangers upload. Returns the paths of their shares. */
export const createBoxes = async ({ app, model }: History): Promise<string[]> => {
  const [owner] = model.people
  if (!owner) throw new Error('the org has nobody')
  const boxes: string[] = []
  for (const name of ['docs', 'work']) {
    const { body } = await app.call('POST', '/api/v1/files', { as: owner.actor, json: { source: 'folder', name } })
    boxes.push((await shareCalls(app).share(owner.actor, body.data.file.id, { permission: 'upload' })).path)
  }
  return boxes
}

export const actorOf = ({ people }: Model, { who }: Step): TestActor => (people[who] as Person).actor

/** Sends the steps of each round at the same time. Counts, quotas and guards must be exact after each. */
export const storm = async (history: History, rounds: readonly (readonly Step[])[]): Promise<void> => {
  const { app, model, orgId } = history
  const boxes = await createBoxes(history)
  for (const steps of rounds) {
    const known = await listKnown(history, boxes)
    const answers: (Answer | undefined)[] = await Promise.all(
      steps.map((step): Promise<Answer | undefined> => {
        const request = requests[step.n % requests.length] as Request
        return request(history, known, step, actorOf(model, step))
      }),
    )
    for (const answer of answers) assert.ok(answer === undefined || answer.status < 500, answer?.text ?? '')
    await countsAreExact(app, orgId)
    await guardsAreExact(app, orgId)
  }
  await contentsAreWhole(history, (await listKnown(history, boxes)).files)
}

/** Whether each file that is found has the whole bytes that a request has sent. */
export const contentsAreWhole = async ({ app, model }: History, files: readonly string[]): Promise<void> => {
  const [owner] = model.people
  for (const id of files) {
    const { status, text } = await app.call('GET', `/api/v1/files/${id}?download=true&inline=true`, {
      as: owner?.actor ?? '',
    })
    assert.ok([200, 404].includes(status), text)
    if (status === 200) assert.match(text, /^(?:content \d|hello)$/)
  }
}
