import { t } from '@lingui/core/macro'
// The script of a page can fail to load: the connection broke, or the server has a newer build and no longer has the
// files of the one that this tab runs. The first is cured by another attempt, the second by a reload.
import type { RouteObject } from 'react-router'
import { hasOpenUploads } from './uploads/state.ts'

const retryAfterMs = [500, 2_000]

/** A page could not be loaded, also not by another attempt. */
export class PageLoadError extends Error {
  constructor(cause: unknown) {
    super(t`Check your network connection, then reload the page.`, { cause })
    this.name = 'PageLoadError'
  }
}

// Vite does not load a style sheet again that failed once, so the page would have no style.
let failedSheets: readonly HTMLLinkElement[] = []
const onResourceError = ({ target }: Event): void => {
  if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failedSheets = [...failedSheets, target]
}
window.addEventListener('error', onResourceError, { capture: true })

const loadSheet = (link: HTMLLinkElement): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const again = link.cloneNode() as HTMLLinkElement
    again.addEventListener('load', resolve)
    again.addEventListener('error', () => reject(new Error(`The style sheet ${link.href} could not be loaded`)))
    link.replaceWith(again)
  })

/** The style sheets that each import needs and that failed. */
const sheetsOf = new WeakMap<() => Promise<unknown>, readonly HTMLLinkElement[]>()

const attempt = async <T>(load: () => Promise<T>): Promise<T> => {
  const others = new Set(failedSheets)
  const missing = sheetsOf.get(load) ?? []
  try {
    await Promise.all(missing.map(loadSheet))
    sheetsOf.delete(load)
    return await load()
  } catch (error) {
    const failed = failedSheets.filter((link) => !others.has(link))
    if (failed.length > 0) sheetsOf.set(load, failed)
    throw error
  }
}

/** Imports a module, and tries again when that fails. Chromium remembers a failed module until the page is reloaded. */
export const importWithRetry = async <T>(load: () => Promise<T>): Promise<T> => {
  for (const delay of retryAfterMs) {
    try {
      return await attempt(load)
    } catch {
      await new Promise((resolve) => {
        setTimeout(resolve, delay)
      })
    }
  }
  return attempt(load)
}

const reloadKey = 'atrium.page-reload'
/** A page that fails again within this time after its reload shows the error. */
const reloadEveryMs = 60_000

interface Reload {
  /** Unix time in milliseconds. */
  at: number
  build: string
}

/** Names the build of this tab: the URL of its entry script contains a hash. */
const build = (): string => document.querySelector<HTMLScriptElement>('script[type=module]')?.src ?? ''

const lastReload = (): Reload | undefined => {
  const text = sessionStorage.getItem(reloadKey)
  return text === null ? undefined : (JSON.parse(text) as Reload)
}

/** Whether this tab was just reloaded and got a newer build. True once. */
export const wasUpdated = (): boolean => {
  try {
    const last = lastReload()
    if (last === undefined || last.build === build()) return false
    sessionStorage.removeItem(reloadKey)
    return true
  } catch {
    return false
  }
}

const isReachable = (): Promise<boolean> =>
  fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Opens a URL by a reload. False when that was tried just now, would cancel uploads, or would show a browser error. */
const openByReload = async (url: string): Promise<boolean> => {
  if (hasOpenUploads() || !(await isReachable())) return false
  try {
    const last = lastReload()
    if (last !== undefined && Date.now() - last.at < reloadEveryMs) return false
    sessionStorage.setItem(reloadKey, JSON.stringify({ at: Date.now(), build: build() } satisfies Reload))
  } catch {
    // Without storage, a page that fails again would be reloaded for ever.
    return false
  }
  location.assign(url)
  return true
}

/** Routes whose pages are loaded again when that fails. `target` is the URL that is being opened, if any. */
export const withRetry = (routes: readonly RouteObject[], target: () => string | undefined): RouteObject[] =>
  routes.map((route): RouteObject => {
    const { lazy, children } = route
    const load = typeof lazy === 'function' ? lazy : undefined
    return {
      ...route,
      ...(load && {
        lazy: async () => {
          try {
            return await importWithRetry(load)
          } catch (error) {
            const url = target()
            // The page stays as it is until the browser has left it.
            if (url !== undefined && (await openByReload(url))) return new Promise<never>(() => undefined)
            throw new PageLoadError(error)
          }
        },
      }),
      ...(children && { children: withRetry(children, target) }),
    } as RouteObject
  })
