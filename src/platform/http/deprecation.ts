import type { onRequestHookHandler } from 'fastify'
import type { App } from './http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Dates (`2027-01-31`): since when callers should move on, and when the route may go, 12 months later at least. */
    deprecated?: { since: string; sunset: string }
  }
}

const midnightOf = (date: string): Date => {
  const midnight = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime())) throw new Error(`${date} is not a date`)
  return midnight
}

/** The Deprecation (RFC 9745) and Sunset (RFC 8594) fields of a route. Throws when the promised 12 months are not kept. */
export const deprecationHeaders = (deprecated: { since: string; sunset: string }): Record<string, string> => {
  const since = midnightOf(deprecated.since)
  const sunset = midnightOf(deprecated.sunset)
  const earliest = new Date(since)
  earliest.setUTCFullYear(since.getUTCFullYear() + 1)
  if (sunset < earliest) throw new Error('a deprecated route stays for 12 months at least')
  return { deprecation: `@${since.getTime() / 1_000}`, sunset: sunset.toUTCString() }
}

/** Makes every deprecated route that is registered after it say so in all its answers. */
export const registerDeprecation = (app: App): void => {
  app.addHook('onRoute', (route) => {
    const deprecated = route.config?.deprecated
    if (deprecated === undefined) return
    const headers = deprecationHeaders(deprecated)
    const tell: onRequestHookHandler = (_request, reply, done) => {
      reply.headers(headers)
      done()
    }
    route.onRequest = [tell, ...[route.onRequest ?? []].flat()]
  })
}
