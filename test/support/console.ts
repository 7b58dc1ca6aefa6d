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
import { startBrowser } from './browser.ts'
import type { BrowserPage, OpenOptions } from './browser.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor, TestApp } from '../harness.ts'
import { until } from './until.ts'

export interface TestConsole {
  app: TestApp
  /** A browser of its own, in which nobody is signed in, at `path`. */
  visit(path: string, options?: OpenOptions): Promise<BrowserPage>
  /** The same with `actor` signed in, as if by a one-time link. */
  open(actor: TestActor, path: string, options?: OpenOptions): Promise<BrowserPage>
  signInLink(actor: TestActor): Promise<string>
}

export const password = 'correct horse battery'

/** The console as it is now, on a real server, in a real browser. Call it at the top level of the file. */
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

/** Gives a person a password, for step-up and two-factor; ends their sessions, so do it first. */
export const givePassword = async (app: TestApp, { userId }: TestActor): Promise<void> => {
  const hash = await hashPassword(password)
  await app.db.transaction('all orgs', (db) => setPassword(db, userId, hash))
}

// As text, since it runs in the page; what turns for ever (a spinner) is not waited for. A transition begins a frame
// after the change that asks for it, so two frames are let pass first.
const isMoving = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
  document.getAnimations().some((one) => one.playState === 'running' && one.effect.getComputedTiming().iterations !== Infinity)
))))`

/** When nothing moves or loads any more. */
export const settle = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle')
  await page.evaluate('document.fonts.ready')
  await until('everything has come to rest', async () => !(await page.evaluate(isMoving)))
}

/** Fails when axe finds something that keeps people out; by these rules, or all. */
export const assertAccessible = async (page: Page, rules?: string[]): Promise<void> => {
  // Text that is fading in has less contrast than it will have.
  await settle(page)
  for (const frame of page.frames()) await frame.evaluate(axe.source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) }
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  assert.deepEqual(
    serious.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).join('\n')}`,
    ),
    [],
  )
}

/** Puts `file 000001.txt` and so on into a folder, all with the same five bytes. */
export const fillFolder = async (app: TestApp, actor: TestActor, folderId: string, count: number): Promise<void> => {
  const { orgId, userId } = actor
  const blobId = newId()
  await app.db.execute(sql`
    insert into blobs (org_id, id, state, sha256, size_bytes) values (${orgId}, ${blobId}, 'live', sha256('hello'), 5)`)
  await app.db.execute(sql`
    insert into files (org_id, id, source, parent_id, name, name_key, mime_type, size_bytes, blob_id, sha256, created_by)
    select ${orgId}, gen_random_uuid(), 'upload', ${folderId}, name, name, 'text/plain', 5, ${blobId}, sha256('hello'), ${userId}
    from (select 'file ' || lpad(n::text, 6, '0') || '.txt' as name from generate_series(1, ${count}::integer) n) as wanted`)
  await app.db.execute(sql`
    insert into folder_counts (org_id, folder_id, slot, children) values (${orgId}, ${folderId}, 0, ${count})
    on conflict (org_id, folder_id, slot) do update set children = excluded.children`)
  await app.db.execute(sql`analyze files`)
}
