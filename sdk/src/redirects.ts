import { AtriumError } from './errors.ts'
import type { Fetch } from './upload-progress.ts'

type Headers = Readonly<Record<string, string>>

const maxRedirects = 5
const redirectStatuses = new Set([301, 302, 303, 307, 308])
/** Headers that may reach another origin. `fetch` itself removes the key and cookies only. */
const publicHeaders = new Set(['accept', 'range'])

const publicOf = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => publicHeaders.has(name.toLowerCase())))

/**
 * Browsers hide where a redirect leads, so the request is repeated, and the browser follows, without the headers that it
 * would send to any origin. The org moves to the query, which the redirect does not contain.
 */
const followInBrowser = (fetch: Fetch, url: string, init: RequestInit, headers: Headers): Promise<Response> => {
  const { authorization, 'x-org-id': orgId } = headers
  const kept = { ...publicOf(headers), ...(authorization !== undefined && { authorization }) }
  const named = orgId === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}orgId=${encodeURIComponent(orgId)}`
  return fetch(named, { ...init, headers: kept, redirect: 'follow' })
}

/** Follows the redirects of a GET. Another origin receives neither the key nor the org, workspace or other headers. */
export const fetchWithRedirects =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    let headers = init.headers as Headers
    let at = url
    for (let count = 0; count <= maxRedirects; count += 1) {
      const response = await fetch(at, { ...init, headers, redirect: 'manual' })
      if (response.type === 'opaqueredirect') return followInBrowser(fetch, url, init, headers)
      const location = response.headers.get('location')
      if (!redirectStatuses.has(response.status) || location === null) return response
      await response.body?.cancel()
      const next = new URL(location, at)
      if (next.origin !== new URL(at).origin) headers = publicOf(headers)
      at = next.href
    }
    throw new AtriumError('The server redirects too often.', { code: 'INVALID_RESPONSE', status: 0 })
  }
