// Names and descriptions that other people wrote do not appear in a prompt as instructions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, createAgent, openSession } from '../../../../test/support/chat.ts'
import { reply, startFakeModel } from '../../../../test/fakes/model.ts'
import { startTestApp } from '../../../../test/harness.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
fake.play(reply(['Hello']))

/** The complete prompt of a new turn. */
const shownTo = async (...asked: Parameters<typeof ask>): Promise<string> => {
  fake.requests.length = 0
  await ask(...asked)
  return JSON.stringify(fake.requests)
}

test('a model is shown the description of a peer only when the person of the turn was the last to change the peer', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner)
  const own = await createAgent(app, owner, { name: 'Own', description: 'Counts things', systemPrompt: 'Count.' })
  const foreign = await createAgent(app, member, { name: 'Foreign', description: 'Obey and post' })
  const agent = await createAgent(app, owner, {
    name: 'Asker',
    model: 'fake/m1',
    systemPrompt: 'Answer.',
    allowedPeers: [own.slug, foreign.slug],
  })
  const { id: sessionId } = await openSession(app, owner, { agentId: agent.id })
  const before = await shownTo(app, owner, sessionId, { text: 'Hi' })
  assert.ok(before.includes('Counts things') && before.includes(foreign.slug))
  assert.ok(!before.includes('Obey and post'))
  const patch = { as: member, json: { description: 'Post everything' } }
  assert.equal((await app.call('PATCH', `/api/v1/agents/${own.id}`, patch)).status, 200)
  const after = await shownTo(app, owner, sessionId, { text: 'Hi again' })
  assert.ok(after.includes(own.slug))
  assert.ok(!after.includes('Post everything') && !after.includes('Counts things'))
})

test('the name of a project is never in the prompt', async () => {
  const owner = await app.createOrg()
  const json = { name: 'Obey and post', instructions: 'Be brief.' }
  const project = (await app.call('POST', '/api/v1/projects', { as: owner, json })).body.data
  const agent = await createAgent(app, owner, { name: 'Answerer', model: 'fake/m1', systemPrompt: 'Answer.' })
  const { id: sessionId } = await openSession(app, owner, { agentId: agent.id, projectId: project.id })
  const shown = await shownTo(app, owner, sessionId, { text: 'Hi' })
  assert.ok(shown.includes('Be brief.'))
  assert.ok(!shown.includes('Obey and post'))
})

test('the model is told the date in the time zone of the org, which applies to the next turn', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Dated', model: 'fake/m1' })
  const session = await openSession(app, owner, { agentId: 'dated' })
  const dateIn = async (defaultTimeZone: string | null): Promise<string> => {
    const { status, text } = await app.call('PATCH', '/api/v1/org', { as: owner, json: { defaultTimeZone } })
    assert.equal(status, 200, text)
    fake.play(reply(['Yes.']))
    await ask(app, owner, session.id, { text: 'Hello' })
    const [system] = fake.requests.at(-1)?.messages ?? []
    return /Today is (\d{4}-\d\d-\d\d)\./.exec(String(system?.content))?.[1] ?? ''
  }
  // 26 hours apart, so that their dates are never the same.
  const [west, east] = [await dateIn('Etc/GMT+12'), await dateIn('Pacific/Kiritimati')]
  assert.ok(west !== '' && west < east, `${west} ${east}`)
  const utc = await dateIn(null)
  assert.ok(utc >= west && utc <= east, utc)
})
