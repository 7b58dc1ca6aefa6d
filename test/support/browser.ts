import chromium from '@sparticuz/chromium'
import axe from 'axe-core'
import type { AxeResults } from 'axe-core'
import { after } from 'node:test'
import { chromium as launcher } from 'playwright-core'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { until } from './until.ts'

export interface OpenOptions {
  dark?: boolean
  /** CSS pixels; a phone is 390 × 844. */
  size?: { width: number; height: number }
  /** A screen that is touched, as that of a phone: controls are larger. */
  touch?: boolean
}

export interface BrowserPage {
  page: Page
  context: BrowserContext
  /** Errors of the page so far: uncaught exceptions, console errors and requests to other hosts. */
  pageErrors: string[]
}

/** Collects uncaught exceptions, console errors and requests to other hosts. */
export const collectPageErrors = (page: Page): string[] => {
  const pageErrors: string[] = []
  page.on('pageerror', (error) => pageErrors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') pageErrors.push(message.text())
  })
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') pageErrors.push(`a request to ${request.url()}`)
  })
  return pageErrors
}

interface Traffic {
  unfinished: Set<Request>
  /** Time of the last change of `unfinished`. */
  changedAt: number
}

const traffic = new WeakMap<Page, Traffic>()

const watchTraffic = (page: Page): void => {
  const known: Traffic = { unfinished: new Set(), changedAt: 0 }
  traffic.set(page, known)
  const onChange =
    (change: (request: Request) => void) =>
    (request: Request): void => {
      // Open as long as the page is visible.
      if (request.serviceWorker() || new URL(request.url()).pathname === '/api/v1/events/stream') return
      // The requests of the previous document end without a report.
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) known.unfinished.clear()
      change(request)
      known.changedAt = performance.now()
    }
  const finish = onChange((request) => known.unfinished.delete(request))
  page.on(
    'request',
    onChange((request) => known.unfinished.add(request)),
  )
  page.on('requestfinished', finish)
  page.on('requestfailed', finish)
}

const idleMs = 500

/**
 * Waits until the page has made no request for half a second. The stream of events is not counted. On a busy machine, a
 * page that runs no code makes no requests either, so that it must answer before the time is read again.
 */
export const waitForIdleNetwork = async (page: Page): Promise<void> => {
  await page.waitForLoadState('load')
  const isIdle = (): boolean => {
    const { unfinished, changedAt } = traffic.get(page) ?? { unfinished: new Set(), changedAt: 0 }
    return unfinished.size === 0 && performance.now() - changedAt >= idleMs
  }
  const answers = (): Promise<boolean> =>
    page.evaluate('true').then(
      () => true,
      // The page is being replaced by another one.
      () => false,
    )
  await until('the network of the page is idle', async () => isIdle() && (await answers()) && isIdle())
}

// A string, because it runs in the page. Infinite animations (spinners) are ignored. A transition starts one frame after
// the change that causes it, so two frames pass first.
const isAnimating = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
  document.getAnimations().some((one) => one.playState === 'running' && one.effect.getComputedTiming().iterations !== Infinity)
))))`

/** Waits until the animations and transitions of a page have ended. */
export const waitForAnimations = (page: Page): Promise<void> =>
  until('all animations have ended', async () => !(await page.evaluate(isAnimating)))

// @sparticuz/chromium unpacks the shared libraries that minimal machines lack only when it detects AWS Lambda.
const lambdaEnv = { AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }

/** Starts a headless Chromium for one test file. The browser comes from npm, so it needs no installation. */
export const startBrowser = async (
  args: string[] = [],
): Promise<{ open(options?: OpenOptions): Promise<BrowserPage> }> => {
  Object.assign(process.env, lambdaEnv)
  const executablePath = await chromium.executablePath()
  // Another test file may still be unpacking it.
  const launched = await until(
    () =>
      launcher
        .launch({
          executablePath,
          args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
          env: { ...process.env, ...lambdaEnv },
        })
        .catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ETXTBSY') throw error
          return undefined
        }),
    (found) => found !== undefined,
  )
  const browser = launched as NonNullable<typeof launched>
  after(() => browser.close())
  return {
    open: async ({ dark = false, size = { width: 1280, height: 800 }, touch = false } = {}) => {
      const colorScheme = dark ? 'dark' : 'light'
      const context = await browser.newContext({ colorScheme, viewport: size, hasTouch: touch, isMobile: touch })
      context.setDefaultTimeout(60_000)
      // Also the pages that are opened later.
      context.on('page', watchTraffic)
      const page = await context.newPage()
      return { page, context, pageErrors: collectPageErrors(page) }
    },
  }
}

/** The violations of any impact in a page, of the given rules or of all rules, one line for each element. */
export const violationsOf = async (page: Page, rules?: string[]): Promise<string[]> => {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) }
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      [impact, id, target.join(' '), html.slice(0, 200), failureSummary?.split('\n')[1]?.trim()].join(' | '),
    ),
  )
}
