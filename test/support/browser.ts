import chromium from '@sparticuz/chromium'
import { after } from 'node:test'
import { chromium as launcher } from 'playwright-core'
import type { BrowserContext, Page } from 'playwright-core'

export interface OpenOptions {
  dark?: boolean
  /** CSS pixels; a phone is 390 × 844. */
  size?: { width: number; height: number }
}

export interface BrowserPage {
  page: Page
  context: BrowserContext
  /** What went wrong in the page so far: thrown errors, error messages of the console, requests to other hosts. */
  faults: string[]
}

/** Collects what goes wrong in a page from now on. */
export const faultsOf = (page: Page): string[] => {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') faults.push(`a request to ${request.url()}`)
  })
  return faults
}

// The build for AWS Lambda brings the libraries that a bare machine lacks, and unpacks them when it believes to be there.
const bareMachine = { AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }

/** A real headless Chromium for one test file. The browser comes by npm, so no machine is without one. */
export const startBrowser = async (
  args: string[] = [],
): Promise<{ open(options?: OpenOptions): Promise<BrowserPage> }> => {
  Object.assign(process.env, bareMachine)
  const browser = await launcher.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
    env: { ...process.env, ...bareMachine },
  })
  after(() => browser.close())
  return {
    open: async ({ dark = false, size = { width: 1280, height: 800 } } = {}) => {
      const context = await browser.newContext({ colorScheme: dark ? 'dark' : 'light', viewport: size })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      return { page, context, faults: faultsOf(page) }
    },
  }
}
