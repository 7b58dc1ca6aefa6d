import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { countsAreExact, createFolder, grantTo, guardsAreExact, putAccess } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { waitingForLocks } from '../../../test/support/database/distributed.ts'
import { until } from '../../../test/support/until.ts'
import { lockForDeletion } from '../tree/queries.ts'

const app = await startTestApp({ RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0', RATE_LIMIT_UPLOADS: '0' })
const files = '/api/v1/files'

const call = (as: TestActor, method: string, path: string, json?: object): Promise<Answer> =>
  app.call(method, files + path, { as, ...(json === undefined ? {} : { json }) })

/** A file without bytes: an insert, and nothing to wait for. */
const put = async (as: TestActor, parentId: string | null, name = 'f'): Promise<string> => {
  const { body, status, text } = await call(as, 'POST', '', { name, mimeType: 'text/plain', size: 1, parentId })
  assert.ok(status < 500, text)
  return body.data?.file.id ?? ''
}

const isExact = async ({ orgId }: TestActor): Promise<void> => {
  await guardsAreExact(app, orgId)
  await countsAreExact(app, orgId)
}

type Command =
  | { do: 'folder' | 'file' | 'link'; into: number }
  | { do: 'move'; what: number; into: number }
  | { do: 'restrict' | 'open' | 'delete' | 'restore'; what: number }

const place = fc.nat(11)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('folder' as const, 'file' as const), into: place }) },
  fc.record({ do: fc.constant('link' as const), into: place }),
  { weight: 4, arbitrary: fc.record({ do: fc.constant('move' as const), what: place, into: place }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('restrict' as const, 'open' as const, 'delete' as const, 'restore' as const),
      what: place,
    }),
  },
)

describe('the guards of files', () => {
  test('equal those that follow from the tree after every history of concurrent changes', async () => {
    const histories = fc.array(fc.array(command, { minLength: 1, maxLength: 5 }), { minLength: 3, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const owner = await app.createOrg()
        const member = await app.createUser(owner)
        const target = await put(owner, null, 'target')
        const ids: string[] = [(await createFolder(app, owner, 'one')).id]
        ids.push((await createFolder(app, owner, 'two', ids[0])).id, (await createFolder(app, owner, 'three')).id)
        const at = (index: number): string => ids[index % ids.length] as string
        const grants = [grantTo(member, 'write')]
        const run = async (one: Command, as: TestActor): Promise<Answer> => {
          switch (one.do) {
            case 'folder':
              return call(as, 'POST', '', { source: 'folder', name: 'f', parentId: at(one.into) })
            case 'file':
              return call(as, 'POST', '', { name: 'f', mimeType: 'text/plain', size: 1, parentId: at(one.into) })
            case 'link':
              return call(as, 'POST', '', { source: 'link', targetFileId: target, name: 'l', parentId: at(one.into) })
            case 'move':
              return call(as, 'PATCH', `/${at(one.what)}`, { parentId: one.into === 0 ? null : at(one.into) })
            case 'restrict':
              return putAccess(app, as, at(one.what), { restricted: true, grants })
            case 'open':
              return putAccess(app, as, at(one.what), { restricted: false })
            case 'delete':
              return call(as, 'DELETE', `/${at(one.what)}`)
            default:
              return call(as, 'POST', `/${at(one.what)}/restore`)
          }
        }
        for (const batch of history) {
          const answers = await Promise.all(batch.map((one, index) => run(one, index % 2 === 0 ? owner : member)))
          for (const { status, text, body } of answers) {
            assert.ok(status < 500, text)
            const id = body.data?.file?.id
            if (status === 201 && typeof id === 'string') ids.push(id)
          }
          await isExact(owner)
        }
      }),
      { numRuns: 8 },
    )
  })

  test('are right for what is put into, moved into, moved out of and restored into a folder while it is restricted', async () => {
    const owner = await app.createOrg()
    const [folder, elsewhere] = [await createFolder(app, owner, 'f'), await createFolder(app, owner, 'elsewhere')]
    const inner = await createFolder(app, owner, 'inner', folder.id)
    const deep = await createFolder(app, owner, 'deep', inner.id)
    const moved = await put(owner, inner.id)
    const leaving = await createFolder(app, owner, 'leaving', folder.id)
    await put(owner, leaving.id)
    const coming = await createFolder(app, owner, 'coming', elsewhere.id)
    await put(owner, coming.id)
    const single = await createFolder(app, owner, 'deleted', inner.id)
    await put(owner, single.id)
    await call(owner, 'DELETE', `/${single.id}`)
    for (const restricted of [true, false, true]) {
      const answers = await Promise.all([
        ...Array.from({ length: 6 }, (_, n) =>
          call(owner, 'POST', '', { source: 'folder', name: `${n}`, parentId: n % 2 === 0 ? inner.id : deep.id }),
        ),
        putAccess(app, owner, folder.id, { restricted }),
        call(owner, 'PATCH', `/${moved}`, { parentId: restricted ? elsewhere.id : deep.id }),
        call(owner, 'PATCH', `/${leaving.id}`, { parentId: restricted ? elsewhere.id : deep.id }),
        call(owner, 'PATCH', `/${coming.id}`, { parentId: restricted ? deep.id : elsewhere.id }),
        restricted ? call(owner, 'POST', `/${single.id}/restore`) : call(owner, 'DELETE', `/${single.id}`),
      ])
      for (const { status, text } of answers) assert.ok(status < 300, text)
      await isExact(owner)
    }
  })

  test('of an upload that waits while its folder is restricted are those of the restricted folder', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const folder = await createFolder(app, owner, 'f')
    const inner = await createFolder(app, owner, 'inner', folder.id)
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holder = app.db.transaction({ orgId: owner.orgId }, async (db) => {
      const actor = { orgId: owner.orgId, userId: owner.userId, role: 'owner', workspaceIds: [] }
      await lockForDeletion(db, actor as unknown as Parameters<typeof lockForDeletion>[1], folder.id)
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const areWaiting = (least: number) =>
      until(
        () => waitingForLocks(app.db),
        (count) => count >= least,
      )
    // Both wait for the folder; the restriction first.
    const restricting = putAccess(app, owner, folder.id, { restricted: true })
    await areWaiting(1)
    const waiting = call(member, 'POST', '', { source: 'folder', name: 'late', parentId: folder.id })
    await areWaiting(2)
    held.resolve()
    await holder
    assert.equal((await restricting).status, 200)
    const { status, body } = await waiting
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'], 'the member has no access any more')
    const mine = await call(owner, 'POST', '', { source: 'folder', name: 'mine', parentId: inner.id })
    assert.equal((await call(member, 'GET', `/${mine.body.data.file.id}`)).status, 404)
    await isExact(owner)
  })
})
