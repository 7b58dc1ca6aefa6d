import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { buildConsole } from '../scripts/build-console.mjs'
import { hashPassword, setPassword } from '../src/identity/passwords.ts'
import { createSignInLink } from '../src/identity/sign-in-links.ts'
import { startBrowser } from './browser.ts'
import type { BrowserPage, OpenOptions } from './browser.ts'
import { startTestApp } from './harness.ts'
import type { TestActor, TestApp } from './harness.ts'

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
  await buildConsole(fileURLToPath(new URL('..', import.meta.url)), process.execPath)
  const app = await startTestApp(env)
  const browser = await startBrowser()
  const linkPath = async ({ userId }: TestActor): Promise<string> =>
    (await app.db.transaction((db) => createSignInLink(db, userId))).path
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
  await app.db.transaction((db) => setPassword(db, userId, hash))
}

/** Fails when axe finds something that keeps people out. */
export const assertAccessible = async (page: Page): Promise<void> => {
  const { violations } = await new AxeBuilder({ page }).analyze()
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  assert.deepEqual(
    serious.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).join('\n')}`,
    ),
    [],
  )
}
