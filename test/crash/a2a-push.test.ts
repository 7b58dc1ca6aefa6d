// Kills the server after it has acknowledged messages of A2A clients that do not wait: one task is in progress, and the
// notification of the other one is being sent.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Task } from '@a2a-js/sdk'
import { generateKey } from '../../src/platform/key-format.ts'
import { cloneDatabase, sharedServer, urlOf } from '../database.ts'
import { startReceiver } from '../fakes/receiver.ts'
import type { Receiver } from '../fakes/receiver.ts'
import { asTask, connectClient, messageOf, text } from '../fakes/a2a-client.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/until.ts'

const folder = await mkdtemp(join(tmpdir(), 'atrium-crash-'))
const postgres = await sharedServer()
const database = await cloneDatabase(postgres.connection)
const key = generateKey('dev')
const env = {
  DATA_DIR: folder,
  DATABASE_URL: urlOf(database.connection),
  ENCRYPTION_KEYS: `crash:${randomBytes(32).toString('base64')}`,
  BOOTSTRAP_API_KEY: key,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  LOG_LEVEL: 'silent',
}
let server: ServerProcess = await startServerProcess(env)
after(async () => {
  await server.kill()
  await database.drop()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

const send = async (words: string, { url }: Receiver): Promise<Task> => {
  const client = await connectClient({ key }, { slug: 'assistant', url: server.url })
  const taskPushNotificationConfig = { tenant: '', id: '', taskId: '', url, token: 't', authentication: undefined }
  const configuration = { acceptedOutputModes: [], returnImmediately: true, taskPushNotificationConfig }
  return asTask(await client.sendMessage({ ...messageOf([text(words)]), configuration }))
}

const untilArrivals = ({ arrivals }: Receiver, count: number): Promise<void> =>
  until(`${count} notifications have arrived`, () => arrivals.length >= count, 120_000)

test('a server that was killed sends the notifications of the tasks that it had acknowledged', async () => {
  const [ended, running] = [await startReceiver(), await startReceiver()]
  // The first attempt never gets a response.
  ended.answer = (response) => void (ended.arrivals.length > 1 && response.writeHead(204).end())
  const first = await send('Hello', ended)
  await untilArrivals(ended, 1)
  const second = await send('/slow 3000\nHello', running)
  assert.deepEqual(running.arrivals, [])
  await server.kill()
  server = await startServerProcess(env)
  await Promise.all([untilArrivals(ended, 2), untilArrivals(running, 1)])
  for (const [{ id }, { arrivals }] of [
    [first, ended],
    [second, running],
  ] as const) {
    const arrival = arrivals.at(-1)
    const { task } = JSON.parse(String(arrival?.body)) as { task: { id: string; status: { state: string } } }
    assert.deepEqual([task.id, task.status.state], [id, 'TASK_STATE_COMPLETED'])
    assert.equal(arrival?.headers['x-a2a-notification-token'], 't')
  }
})
