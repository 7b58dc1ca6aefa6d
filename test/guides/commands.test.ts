// Every command of the README and of the guides, run literally against a server.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { urlOf } from '../database.ts'
import { startA2aAgent } from '../fakes/a2a-agent.ts'
import { addMcp } from '../fakes/mcp.ts'
import { startProvider } from '../fakes/provider.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import { givePassword } from '../support/console.ts'
import { openLoopback } from '../support/webhooks.ts'
import { blocksOf, makeCheckout, root, runBlocks } from './shell.ts'

const documents = ['README.md', ...globSync('docs/guides/*.md', { cwd: root }).toSorted()]
const blocks = new Map(await Promise.all(documents.map(async (one) => [one, await blocksOf(one)] as const)))

/** These start a server of their own. */
const withOwnServer = new Set(['README.md', 'docs/guides/operations.md'])

/** The reasons for which commands are left out, and how often. Everything else is run. */
const reasons: Record<string, number> = {
  'needs Docker': 3,
  'needs Kubernetes': 1,
  'needs a bucket': 1,
  'needs an MCP server whose tools have changed': 1,
  'needs the consent of a person at a provider': 2,
}

const provider = await startProvider()
provider.on('GET', '/v0/meta/whoami', { body: { id: 'usr1', email: 'team@example.com' } })
provider.on('GET', '/v0/meta/bases', { body: { bases: [] } })
provider.on('GET', '/v1/me', { body: { ok: true } })
let telegramUrl: unknown = ''
provider.on('GET', '/bot*/getMe', { body: { ok: true, result: { id: 1, username: 'bot' } } })
provider.on('GET', '/bot*/getWebhookInfo', () => ({ body: { ok: true, result: { url: telegramUrl } } }))
provider.on('POST', '/bot*/setWebhook', ({ body }) => {
  telegramUrl = (body as Record<string, unknown>)['url']
  return { body: { ok: true, result: true } }
})
const mcp = addMcp(provider, '/mcp')
mcp.tools = [{ name: 'echo', description: 'Repeats a text.', inputSchema: { type: 'object' } }]
const agent = await startA2aAgent()

const env = {
  ...openLoopback,
  SERVICE_BYOK_ENABLED: '1',
  CONNECTOR_AIRTABLE_BASE_URL: provider.url,
  CONNECTOR_TELEGRAM_BASE_URL: provider.url,
}
const app = await startTestApp(env)

/** Addresses that exist only in the documents. */
const replacements: Record<string, Record<string, string>> = {
  'docs/guides/connectors.md': {
    'https://api.example.com': provider.url,
    'https://mcp.example.com': provider.url,
    'https://agents.example.com/weather': agent.url,
  },
}

test('commands of documents are left out only for the reasons that are listed here', () => {
  const counts: Record<string, number> = {}
  for (const { notRun } of [...blocks.values()].flat()) {
    if (notRun !== undefined) counts[notRun] = (counts[notRun] ?? 0) + 1
  }
  assert.deepEqual(counts, reasons)
})

/** The folder of a reader who has started the server of the test with an org of their own. */
const checkoutOf = async (owner: TestActor): Promise<string> => {
  const folder = await makeCheckout()
  await mkdir(join(folder, '.atrium'))
  await writeFile(join(folder, '.atrium/owner-api-key'), `${owner.key}\n`)
  return folder
}

describe('the commands of', () => {
  const [first] = blocks.get('docs/guides/conventions.md') ?? []
  for (const [document, all] of blocks) {
    const run = all.filter(({ notRun }) => notRun === undefined)
    if (run.length === 0) continue
    test(`${document} work`, async () => {
      if (withOwnServer.has(document)) {
        await runBlocks(run, { folder: await makeCheckout() })
        return
      }
      const owner = await app.createOrg('Acme')
      await givePassword(app, owner)
      if (document === 'docs/guides/identity.md') {
        await app.db.execute(sql`update users set email = 'owner@localhost' where id = ${owner.userId}`)
      }
      await runBlocks(run[0]?.code === first?.code || !first ? run : [first, ...run], {
        folder: await checkoutOf(owner),
        env: {
          ...env,
          SERVER_URL: app.url,
          NODE_ENV: 'test',
          DATABASE_URL: urlOf(app.connection),
          DATA_DIR: app.config.dataDir,
        },
        replace: replacements[document] ?? {},
      })
    })
  }
})
