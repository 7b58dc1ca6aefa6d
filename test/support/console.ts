import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { AxeResults } from 'axe-core'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { buildConsole } from '../../scripts/build-console.mjs'
import { hashPassword, setPassword } from '../../src/identity/sign-in/passwords.ts'
import { sql } from '../../src/platform/database/database.ts'
import { newId } from '../../src/platform/ids.ts'
import { createSignInLink } from '../../src/identity/sign-in/links.ts'
import { startBrowser, waitForAnimations, waitForIdleNetwork } from './browser.ts'
import type { BrowserPage, OpenOptions } from './browser.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor, TestApp } from '../harness.ts'

export interface TestConsole {
  app: TestApp
  /** Opens `path` in a new browser context without a session. */
  visit(path: string, options?: OpenOptions): Promise<BrowserPage>
  /** Opens `path` in a new browser context with a session of `actor`. */
  open(actor: TestActor, path: string, options?: OpenOptions): Promise<BrowserPage>
  signInLink(actor: TestActor): Promise<string>
}

export const password = 'correct horse battery'

/** Builds the console and starts a server and a browser. Call it at the top level of the test file. */
export const startConsole = async (env: Record<string, string> = {}): Promise<TestConsole> => {
  await buildConsole(fileURLToPath(new URL('../..', import.meta.url)), process.execPath)
  const app = await startTestApp(env)
  const browser = await startBrowser()
  const linkPath = async ({ userId }: TestActor): Promise<string> =>
    (await app.db.transaction('all orgs', (db) => createSignInLink(db, userId, null))).path
  return {
    app,
    signInLink: async (actor) => app.url + (await linkPath(actor)),
    visit: async (path, options) => {
      const opened = await browser.open(options)
      await opened.page.goto(app.url + path)
      return opened
    },
    open: async (actor, path, options) => {
      const opened = await browser.open(options)
      const [, token = ''] = (await linkPath(actor)).split('#link=')
      const answer = await opened.context.request.post(`${app.url}/api/v1/auth/sign-in/link`, {
        data: { token },
        headers: { origin: app.url },
      })
      assert.equal(answer.status(), 200)
      await opened.page.goto(app.url + path)
      return opened
    },
  }
}

let passwordHash: Promise<string> | undefined

/** Sets the password of a person. Ends their sessions, so call it before they sign in. */
export const givePassword = async (app: TestApp, { userId }: TestActor): Promise<void> => {
  const hash = await (passwordHash ??= hashPassword(password))
  await app.db.transaction('all orgs', (db) => setPassword(db, userId, hash))
}

/** Waits until the network is idle, fonts are loaded and animations have ended. */
export const settle = async (page: Page): Promise<void> => {
  await waitForIdleNetwork(page)
  await page.evaluate('document.fonts.ready')
  await waitForAnimations(page)
}

/** Chooses a model of the form of agents by keyboard: `search` must find it first. */
export const chooseModel = async (page: Page, label: string, search: string): Promise<void> => {
  await page.getByLabel(label, { exact: true }).click()
  await page.getByRole('combobox', { name: 'Search models' }).fill(search)
  await page.locator('[role=option][data-highlighted]').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
}

/** Fails on axe violations of any impact, of the given rules or of all rules. */
export const assertAccessible = async (page: Page, rules?: string[]): Promise<void> => {
  // Text that is fading would fail the contrast rule: what was opened, and messages that go away by themselves meanwhile.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await settle(page)
  for (const frame of page.frames()) {
    if ((await frame.evaluate('typeof axe')) === 'undefined') await frame.evaluate(axe.source)
  }
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) }
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults
  await page.emulateMedia({ reducedMotion: null })
  assert.deepEqual(
    violations.map(
      ({ id, impact, nodes }) =>
        `${impact} ${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).join('\n')}`,
    ),
    [],
  )
}

/** Inserts `count` files (`file 000001.txt` and so on) that share one blob of five bytes. */
export const fillFolder = async (app: TestApp, actor: TestActor, folderId: string, count: number): Promise<void> => {
  const { orgId, userId } = actor
  const blobId = newId()
  await app.db.execute(sql`
    insert into blobs (org_id, id, state, sha256, size_bytes) values (${orgId}, ${blobId}, 'live', sha256('hello'), 5)`)
  // One statement for all of them can take longer than the limit on statements when the machine is busy.
  for (let first = 1; first <= count; first += 5_000) {
    const last = Math.min(first + 4_999, count)
    await app.db.execute(sql`
      insert into files (org_id, id, source, parent_id, name, name_key, mime_type, size_bytes, blob_id, sha256, created_by)
      select ${orgId}, gen_random_uuid(), 'upload', ${folderId}, name, name, 'text/plain', 5, ${blobId}, sha256('hello'), ${userId}
      from (select 'file ' || lpad(n::text, 6, '0') || '.txt' as name
            from generate_series(${first}::integer, ${last}::integer) n) as numbered`)
  }
  await app.db.execute(sql`
    insert into folder_counts (org_id, folder_id, slot, children) values (${orgId}, ${folderId}, 0, ${count})
    on conflict (org_id, folder_id, slot) do update set children = excluded.children`)
  await app.db.execute(sql`analyze files`)
}
