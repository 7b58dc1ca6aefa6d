// Every way by which bytes arrive, with the process killed after each change that it makes, and with a store that fails.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { startTestApp } from '../../../test/harness.ts'
import { countsAreExact, createFolder, sendForm, storesOnlyWhatIsUsed, upload } from '../../../test/support/files.ts'
import { createFaults } from '../../../test/support/processes/faults.ts'
import { shareCalls } from '../../../test/support/shares.ts'
import { append, ask, begun, metadataOf } from '../../../test/support/uploads/tus.ts'
import { sql } from '../../platform/database/database.ts'
import { storeUnavailable } from '../../platform/object-store/object-store.ts'
import { diskFull } from '../../platform/process/disk-space.ts'

const app = await startTestApp({}, { work: false })
const { db, deps } = app
const faults = createFaults()
const replace = { db: faults.database(db), objects: faults.store(deps.objects) }
/** The server that is killed, or whose store fails. */
const server = await app.secondServer({}, { work: false, replace })

const type = 'text/plain'
const bytes = 'the new bytes'
const name = 'a.txt'

type Send = () => Promise<Answer>

/** For each way: prepares it, and returns the request, which can be sent again until the file is there. */
const ways: Record<string, (owner: TestActor) => Promise<Send>> = {
  'an upload': async (owner) => () => sendForm(server, owner, [{ name: 'file', filename: name, type, value: bytes }]),
  'an overwrite': async (owner) => {
    const { id } = await upload(app, owner, 'old', { name })
    return () => server.call('PUT', `/api/v1/files/${id}/content`, { as: owner, body: bytes })
  },
  'the last chunk of a resumable upload': async (owner) => {
    const path = await begun(app, owner, { size: bytes.length, metadata: { name, type } })
    await append(app, owner, path, { offset: 0, body: Buffer.from(bytes.slice(0, 4)) })
    return async () => {
      const state = await ask(server, owner, path)
      const offset = Number(state.headers.get('upload-offset'))
      if (state.status !== 200 || state.headers.has('atrium-file-id')) return state
      assert.ok(offset === 4, `no byte is lost or invented: ${offset}`)
      return append(server, owner, path, { offset, body: Buffer.from(bytes.slice(offset)) })
    }
  },
  'the concatenation of resumable uploads': async (owner) => {
    const paths: string[] = []
    for (const part of [bytes.slice(0, 4), bytes.slice(4)]) {
      const path = await begun(app, owner, { size: part.length, headers: { 'upload-concat': 'partial' } })
      assert.equal((await append(app, owner, path, { offset: 0, body: Buffer.from(part) })).status, 204)
      paths.push(server.url + path)
    }
    const headers = {
      'tus-resumable': '1.0.0',
      'upload-concat': `final;${paths.join(' ')}`,
      'upload-metadata': metadataOf({ name, type }),
    }
    return () => server.call('POST', '/api/v1/uploads', { as: owner, headers })
  },
  'an upload to a drop box': async (owner) => {
    const folder = await createFolder(app, owner, 'box')
    const { path } = await shareCalls(app).share(owner, folder.id, { permission: 'upload' })
    return () => shareCalls(server).drop(path, { filename: name, value: bytes })
  },
  'a PUT of WebDAV': async (owner) => () =>
    server.call('PUT', `/dav/${name}`, { as: owner, body: bytes, headers: { 'content-type': type } }),
  'a MOVE of WebDAV over a file': async (owner) => {
    await upload(app, owner, 'old', { name })
    await upload(app, owner, bytes, { name: 'other.txt' })
    const headers = { destination: `/dav/${name}` }
    return () => server.call('MOVE', '/dav/other.txt', { as: owner, headers })
  },
}

/** The contents of all files, each as a person downloads it. */
const contentsOf = async (owner: TestActor): Promise<string[]> => {
  const list = await app.call('GET', '/api/v1/files?recursive=true&updatedSince=2020-01-01T00:00:00Z', { as: owner })
  const files = list.body.data.items.filter(({ source }: { source: string }) => source === 'upload')
  const contents: string[] = []
  for (const file of files) {
    assert.equal(file.status, 'ready')
    const { status, text } = await app.call('GET', `/api/v1/files/${file.id}?download=true&inline=true`, { as: owner })
    assert.equal(status, 200)
    if (file.name === name) contents.push(text)
  }
  return contents
}

/** The lease of the request of a dead process has expired. */
const leasesExpire = ({ orgId }: TestActor) =>
  db.execute(sql`update uploads set lease_until = now() - interval '1 second' where org_id = ${orgId}`)

const isDone = ({ status }: Answer): boolean => status < 400

/** Sends the request with a fault, and again without one. Returns whether the fault has happened. */
const tryWith = async (
  prepare: (owner: TestActor) => Promise<Send>,
  cause: () => void,
  check: (answer: Answer) => void,
): Promise<boolean> => {
  const owner = await app.createOrg()
  const send = await prepare(owner)
  const before = await contentsOf(owner)
  cause()
  const answer = await send()
  const hasHappened = faults.hasHappened()
  if (hasHappened) check(answer)
  faults.recover()
  await leasesExpire(owner)
  const after = await contentsOf(owner)
  const isStored = after.includes(bytes)
  if (isDone(answer)) assert.ok(isStored, 'what was acknowledged is there')
  if (!isStored) assert.deepEqual(after, before, 'nothing is visible by half')
  await countsAreExact(app, owner.orgId)
  const again = await send()
  if (!isStored) assert.ok(isDone(again), again.text)
  assert.ok((await contentsOf(owner)).every((content) => content === bytes))
  assert.ok((await contentsOf(owner)).length > 0)
  await storesOnlyWhatIsUsed(app, owner.orgId)
  return hasHappened
}

describe('a process that is killed', () => {
  for (const [way, prepare] of Object.entries(ways)) {
    test(`${way} whose process is killed after any of its steps leaves all or nothing, and can be repeated`, async () => {
      let steps = 0
      for (let at = 1; ; at += 1) {
        const isKilled = await tryWith(
          prepare,
          () => faults.killAfter(at),
          (answer) => assert.ok(answer.status >= 500 || isDone(answer), answer.text),
        )
        if (!isKilled) break
        steps += 1
      }
      assert.ok(steps >= 2, `${steps} steps`)
    })
  }
})

describe('a store that fails', () => {
  for (const [what, error, message] of [
    ['a full disk', () => diskFull('ENOSPC'), /disk is full/],
    ['an unreachable store', () => storeUnavailable('ECONNREFUSED'), /store cannot be reached/],
  ] as const) {
    test(`${what} at any step of any upload is a 503 that leaves nothing, and the upload can be repeated`, async () => {
      for (const [way, prepare] of Object.entries(ways)) {
        for (let at = 1; at < 10; at += 1) {
          const hasFailed = await tryWith(
            prepare,
            () => faults.failFrom(at, error),
            (answer) => {
              if (isDone(answer)) return
              assert.equal(answer.status, 503, `${way}: ${answer.text}`)
              // WebDAV and the pages of shares have messages of their own.
              if (answer.body?.error) assert.match(answer.body.error.message, message)
            },
          )
          if (!hasFailed) break
        }
      }
    })
  }
})
