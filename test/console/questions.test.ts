import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMcp } from '../fakes/mcp.ts'
import { startProvider } from '../fakes/provider.ts'
import { trustAgent } from '../support/authority.ts'
import { createAgent, openSession, say } from '../support/chat.ts'
import { assertAccessible, startConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
mcp.tools = [{ name: 'book', description: 'Books a table.', inputSchema: { type: 'object' } }]
mcp.onCall = () => ({ content: [{ type: 'text', text: JSON.stringify(mcp.answers.at(-1)) }] })
mcp.asks = {
  method: 'elicitation/create',
  params: {
    message: 'Which table <b>do</b> you want?',
    requestedSchema: {
      type: 'object',
      properties: {
        people: { type: 'integer', title: 'People', minimum: 1 },
        room: {
          type: 'string',
          title: 'Room',
          oneOf: [
            { const: 'a', title: 'Garden' },
            { const: 'b', title: 'Hall' },
          ],
        },
        extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['Tea', 'Cake'] } },
        quiet: { type: 'boolean', title: 'A quiet place', description: 'Away from the door' },
        mail: { type: 'string', title: 'Email', format: 'email' },
      },
      required: ['people'],
    },
  },
}
const { app, open } = await startConsole({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })

test('a person answers the question of an MCP server in the conversation, and the call goes on with the answer', async () => {
  const owner = await app.createOrg()
  const begun = await app.call('POST', '/api/v1/connections', { as: owner, json: { connectorSlug: 'mcp' } })
  const path = `/api/v1/connections/${begun.body.data.connection.id}/credentials`
  await app.call('POST', path, { as: owner, json: { credentials: { url: `${provider.url}/mcp` } } })
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
  await trustAgent(app, owner, 'helper', 'mcp')
  const session = await openSession(app, owner, { agentId: 'helper' })
  await say(app, owner, session.id, { text: '/tool mcp__book {}' })
  const { page, pageErrors } = await open(owner, `/chat/${session.id}`)
  const question = page.getByRole('region', { name: 'Input required' })
  await question.getByText('Which table <b>do</b> you want?').waitFor()
  assert.equal(await question.getByRole('button', { name: 'Send answer' }).getAttribute('aria-disabled'), 'true')
  await assertAccessible(page)
  await question.getByLabel('People').fill('4')
  await question.getByLabel('Room').selectOption('Hall')
  await question.getByLabel('Cake').check()
  await question.getByLabel('A quiet place').check()
  await question.getByRole('button', { name: 'Send answer' }).click()
  await question.waitFor({ state: 'detached' })
  const accepted = (): object | undefined =>
    (mcp.answers as { result: { action: string } }[]).find(({ result }) => result.action === 'accept')?.result
  await until('the server has the answer', () => accepted() !== undefined)
  assert.deepEqual(accepted(), {
    action: 'accept',
    content: { people: 4, room: 'b', extras: ['Cake'], quiet: true },
  })
  assert.deepEqual(pageErrors, [])
})
