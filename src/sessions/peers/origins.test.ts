import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, createAgent, openSession, say, until } from '../../../test/support/chat.ts'
import { startChatProviders } from '../../../test/fakes/chat-providers.ts'
import { reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { addEndpoint, deliver } from '../../../test/support/endpoints.ts'
import { sql } from '../../platform/database/database.ts'

const providers = await startChatProviders()
const fake = await startFakeModel()
const app = await startTestApp({
  ...providers.env,
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: fake.baseUrl,
  MODEL_FAKE_MODELS: 'm1',
  MODEL_FAKE_FREE: '1',
})

// oxlint-disable-next-line typescript/no-explicit-any -- tests read into records of every shape
type Json = any

/** An org in which ann may write to bob and eve, and bob to eve. The model of eve is the fake provider's. */
const createTeam = async (): Promise<{ owner: TestActor; annId: string }> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'eve', model: 'fake/m1', systemPrompt: 'Be Eve.' })
  await createAgent(app, owner, { name: 'bob', allowedPeers: ['eve'] })
  const ann = await createAgent(app, owner, { name: 'ann', allowedPeers: ['bob', 'eve'] })
  return { owner, annId: ann.id }
}

const askAnn = async (as: TestActor, text: string): Promise<Json> => {
  const session = await openSession(app, as, { agentId: 'ann' })
  const { turn } = await ask(app, as, session.id, { text })
  assert.deepEqual(
    turn.toolCalls.map(({ status }: Json) => status),
    ['done'],
    JSON.stringify(turn.toolCalls),
  )
  return turn.toolCalls[0].output
}

/** Everything that the model was sent in its last request. */
const lastPrompt = (): string => JSON.stringify(fake.requests.at(-1)?.messages)

const peerSessions = async (as: TestActor): Promise<Json[]> => {
  const { body } = await app.call('GET', '/api/v1/sessions?limit=100', { as })
  return body.data.items.filter((one: Json) => one.metadata.relationship === 'peer')
}

describe('a peer session', () => {
  test('two agents have one session for each person, and neither is shown the messages of another person’s session', async () => {
    const { owner } = await createTeam()
    const member = await app.createUser(owner)
    fake.play(reply(['The password is tulip.']))
    const first = await askAnn(owner, '/peer eve Remember that the salary of Ada is 91000')
    fake.play(reply(['I know nothing.']))
    const second = await askAnn(member, '/peer eve What is the salary of Ada?')
    assert.match(lastPrompt(), /What is the salary of Ada\?/)
    assert.doesNotMatch(lastPrompt(), /91000|tulip/)
    assert.notEqual(second.sessionId, first.sessionId)
  })

  test('a peer session continues for the same person in any session and with any API key', async () => {
    const { owner } = await createTeam()
    fake.play(reply(['The password is tulip.']))
    const first = await askAnn(owner, '/peer eve Remember that the salary of Ada is 91000')
    const { body } = await app.call('POST', '/api/v1/api-keys', {
      as: owner,
      json: { name: 'Second' },
      headers: await app.stepUp(owner),
    })
    fake.play(reply(['It is 91000.']))
    const second = await askAnn({ ...owner, key: body.data.key }, '/peer eve What is the salary of Ada?')
    assert.equal(second.sessionId, first.sessionId)
    assert.match(lastPrompt(), /91000.*tulip/)
  })

  test('the session of a peer with its own peer belongs to the person who started the first turn', async () => {
    const { owner } = await createTeam()
    const member = await app.createUser(owner)
    fake.play(reply(['The password is tulip.']))
    await askAnn(owner, '/peer bob /peer eve Remember that the salary of Ada is 91000')
    await askAnn(member, '/peer bob /peer eve What is the salary of Ada?')
    assert.match(lastPrompt(), /What is the salary of Ada\?/)
    assert.doesNotMatch(lastPrompt(), /91000|tulip/)
    await askAnn(owner, '/peer bob /peer eve What is the salary of Ada?')
    assert.match(lastPrompt(), /91000.*tulip/)
    assert.equal((await peerSessions(owner)).length, 4)
  })

  test('one peer session is created for each person when many first messages arrive at once', async () => {
    const { owner } = await createTeam()
    const member = await app.createUser(owner)
    fake.play(reply(['Hello.']))
    const asked = await Promise.all(
      [owner, member, owner, member, owner, member].map(async (as) => ({
        userId: as.userId,
        sessionId: (await askAnn(as, '/peer eve Hello')).sessionId,
      })),
    )
    const byPerson = Map.groupBy(asked, ({ userId }) => userId)
    const sessions = [...byPerson.values()].map((all) => [...new Set(all.map(({ sessionId }) => sessionId))])
    assert.deepEqual(
      sessions.map((ids) => ids.length),
      [1, 1],
    )
    assert.equal(new Set(sessions.flat()).size, 2)
  })

  test('only its person can continue a peer session, and models of other people are not sent its messages', async () => {
    const { owner } = await createTeam()
    const admin = await app.createUser(owner, 'admin')
    fake.play(reply(['The password is tulip.']))
    const { sessionId } = await askAnn(owner, '/peer eve Remember that the salary of Ada is 91000')
    const asked = fake.requests.length
    const rejected = await say(app, admin, sessionId, { text: 'What is the password?', agentId: 'eve' })
    assert.equal(rejected.status, 403, rejected.text)
    assert.match(rejected.body.error.message, /Only the person/)
    assert.equal(fake.requests.length, asked)
    const { turn } = await ask(app, owner, sessionId, { text: 'What is the password?', agentId: 'eve' })
    assert.equal(turn.status, 'completed')
    assert.match(lastPrompt(), /tulip/)
  })

  test('a peer session that several people shared in earlier versions is closed but readable', async () => {
    const { owner } = await createTeam()
    fake.play(reply(['The password is tulip.']))
    const { sessionId } = await askAnn(owner, '/peer eve Remember that the salary of Ada is 91000')
    await app.db.execute(sql`update sessions set peer_key = null where org_id = ${owner.orgId} and id = ${sessionId}`)
    const rejected = await say(app, owner, sessionId, { text: 'What is the password?', agentId: 'eve' })
    assert.equal(rejected.status, 403, rejected.text)
    const next = await askAnn(owner, '/peer eve What is the salary of Ada?')
    assert.notEqual(next.sessionId, sessionId)
    assert.doesNotMatch(lastPrompt(), /91000|tulip/)
    const { body } = await app.call('GET', '/api/v1/agents/ann/messages', { as: owner })
    assert.ok(body.data.items.some((one: Json) => one.sessionId === sessionId && one.text.includes('91000')))
    const listed = await app.call('GET', '/api/v1/agents/ann/sessions', { as: owner })
    const ids = listed.body.data.items.map(({ id }: Json) => id)
    assert.ok(ids.includes(sessionId) && ids.includes(next.sessionId))
  })
})

describe('agents that reply in chats of a provider', () => {
  let update = 0
  const telegram = (chat: number, text: string) => ({
    update_id: (update += 1),
    message: {
      message_id: update,
      from: { id: chat, is_bot: false, first_name: 'Ada' },
      chat: { id: chat, type: 'private' },
      date: 1,
      text,
    },
  })

  test("agents that reply in a provider's chats have one peer session per chat, separate from that of the person who connected it", async () => {
    const { owner, annId } = await createTeam()
    const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: annId })
    const write = async (chat: number, text: string): Promise<string> => {
      const before = fake.requests.length
      assert.equal((await deliver(app, endpoint, telegram(chat, text))).status, 200)
      await until(
        () => Promise.resolve(fake.requests.length),
        (count) => count > before,
      )
      const prompt = lastPrompt()
      await until(
        () =>
          app.db.rows<{ state: string }>(sql`select state from connector_events where endpoint_id = ${endpoint.id}`),
        (events) => events.every(({ state }) => !['waiting', 'running'].includes(state)),
      )
      return prompt
    }
    fake.play(reply(['The password is tulip.']))
    await write(7, '/peer eve Remember that the salary of Ada is 91000')
    const other = await write(8, '/peer eve What is the salary of Ada?')
    assert.match(other, /What is the salary of Ada\?/)
    assert.doesNotMatch(other, /91000|tulip/)
    assert.match(await write(7, '/peer eve What is the salary of Ada?'), /91000.*tulip/)
    const chained = await write(8, '/peer bob /peer eve What is the salary of Ada?')
    assert.doesNotMatch(chained, /91000/)
    await askAnn(owner, '/peer eve What is the salary of Ada?')
    assert.doesNotMatch(lastPrompt(), /91000|tulip/)
    assert.equal((await peerSessions(owner)).filter(({ title }) => title === 'ann and eve').length, 3)
  })
})
