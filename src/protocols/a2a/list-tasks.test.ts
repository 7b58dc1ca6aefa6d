import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListTasksRequest } from '@a2a-js/sdk'
import {
  asTask,
  connectClient,
  ended,
  messageOf,
  replyOf,
  stateOf,
  text,
  textOf,
} from '../../../test/fakes/a2a-client.ts'
import { rejectWith, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { createAgent } from '../../../test/support/chat.ts'

const model = await startFakeModel()
const app = await startTestApp(model.env)

const list = (contextId: string, more: Partial<ListTasksRequest> = {}): ListTasksRequest => ({
  tenant: '',
  contextId,
  status: 0,
  pageToken: '',
  statusTimestampAfter: undefined,
  ...more,
})

/** A conversation of a new person with three tasks, the second of which has failed. */
const converse = async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m1' })
  const client = await connectClient(owner, { url: app.url })
  model.play(reply(['One.']), rejectWith(400), reply(['Three.']))
  const first = asTask(await client.sendMessage(messageOf([text('First')])))
  const { contextId } = first
  const ids = [first.id]
  for (const words of ['Second', 'Third']) {
    ids.unshift(asTask(await client.sendMessage(messageOf([text(words)], { contextId }))).id)
  }
  return { owner, client, contextId, ids }
}

const idsOf = ({ tasks }: { tasks: { id: string }[] }): string[] => tasks.map(({ id }) => id)

describe('the list of the tasks of a context', () => {
  test('has the latest first, in pages, with replies and messages only when asked for', async () => {
    const { client, contextId, ids } = await converse()
    const all = await client.listTasks(list(contextId))
    assert.deepEqual([idsOf(all), all.totalSize, all.nextPageToken], [ids, 3, ''])
    assert.deepEqual(
      all.tasks.map((task) => [stateOf(task), task.artifacts.length, task.history.length]),
      [
        [ended.completed, 0, 0],
        [ended.failed, 0, 0],
        [ended.completed, 0, 0],
      ],
    )
    const page = await client.listTasks(list(contextId, { pageSize: 2 }))
    assert.deepEqual([idsOf(page), page.totalSize, page.pageSize], [ids.slice(0, 2), 3, 2])
    const rest = await client.listTasks(list(contextId, { pageSize: 2, pageToken: page.nextPageToken }))
    assert.deepEqual([idsOf(rest), rest.nextPageToken], [ids.slice(2), ''])
    const whole = await client.listTasks(list(contextId, { includeArtifacts: true, historyLength: 1 }))
    assert.deepEqual(
      whole.tasks.map((task) => [replyOf(task), textOf(task.history[0]?.parts)]),
      [
        ['Three.', 'Third'],
        ['', 'Second'],
        ['One.', 'First'],
      ],
    )
    const read = await client.getTask({ tenant: '', id: ids[0]! })
    assert.deepEqual(whole.tasks[0], read)
  })

  test('is filtered by state and by the time of the last change', async () => {
    const { client, contextId, ids } = await converse()
    const failed = await client.listTasks(list(contextId, { status: ended.failed }))
    assert.deepEqual([idsOf(failed), failed.totalSize], [[ids[1]], 1])
    assert.deepEqual(idsOf(await client.listTasks(list(contextId, { status: ended.completed }))), [ids[0], ids[2]])
    assert.deepEqual(idsOf(await client.listTasks(list(contextId, { status: ended.canceled }))), [])
    const statusTimestampAfter = new Date(Date.now() + 60_000).toISOString()
    assert.deepEqual(idsOf(await client.listTasks(list(contextId, { statusTimestampAfter }))), [])
  })

  test('is empty for other people, other agents and other orgs, and after the session was deleted', async () => {
    const { owner, client, contextId } = await converse()
    await createAgent(app, owner, { name: 'Second', model: 'fake/m1' })
    const stranger = await app.createOrg()
    await createAgent(app, stranger, { name: 'Helper', model: 'fake/m1' })
    const readers: [TestActor, string][] = [
      [await app.createUser(owner, 'admin'), 'helper'],
      [owner, 'second'],
      [stranger, 'helper'],
    ]
    for (const [as, slug] of readers) {
      const { tasks, totalSize } = await (await connectClient(as, { url: app.url, slug })).listTasks(list(contextId))
      assert.deepEqual([tasks, totalSize], [[], 0])
    }
    await app.call('DELETE', `/api/v1/sessions/${contextId}`, { as: owner })
    assert.deepEqual((await client.listTasks(list(contextId))).tasks, [])
  })

  test('needs a context and valid limits', async () => {
    const { client, contextId } = await converse()
    const codeOf = (params: ListTasksRequest): Promise<number | undefined> =>
      client.listTasks(params).then(
        () => undefined,
        (error: unknown) => (error as { envelopeCode?: number }).envelopeCode,
      )
    assert.equal(await codeOf(list('')), -32_004)
    const tokenOf = (position: string) => ({ pageToken: Buffer.from(position).toString('base64url') })
    const wrongs = [
      { pageSize: 101 },
      { pageSize: -1 },
      { pageToken: 'x' },
      { statusTimestampAfter: 'x' },
      // Beyond a bigint, and times that JavaScript knows and PostgreSQL does not.
      tokenOf(`9999999999999999999 ${contextId}`),
      { statusTimestampAfter: '+275760-09-13T00:00:00.000Z' },
      { statusTimestampAfter: '-000001-01-01T00:00:00.000Z' },
      { statusTimestampAfter: '0000-01-01T00:00:00.000Z' },
    ]
    for (const wrong of wrongs) {
      assert.equal(await codeOf(list(contextId, wrong)), -32_602, JSON.stringify(wrong))
    }
    for (const right of [
      tokenOf(`999999999999999999 ${contextId}`),
      { statusTimestampAfter: '0001-01-01T00:00:00.000Z' },
      { statusTimestampAfter: '9999-12-31T23:59:59.999Z' },
    ]) {
      assert.equal(await codeOf(list(contextId, right)), undefined, JSON.stringify(right))
    }
  })
})
