import type { FastifyInstance, onRequestHookHandler } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Dates (`2027-01-31`): the day of the deprecation, and the day of removal, at least 12 months later. */
    deprecated?: { since: string; sunset: string }
  }
}

const midnightOf = (date: string): Date => {
  const midnight = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime())) throw new Error(`${date} is not a date`)
  return midnight
}

/** The Deprecation (RFC 9745) and Sunset (RFC 8594) headers. Throws when there are less than 12 months between them. */
export const deprecationHeaders = (deprecated: { since: string; sunset: string }): Record<string, string> => {
  const since = midnightOf(deprecated.since)
  const sunset = midnightOf(deprecated.sunset)
  const earliest = new Date(since)
  earliest.setUTCFullYear(since.getUTCFullYear() + 1)
  if (sunset < earliest) throw new Error('a deprecated route must stay for at least 12 months')
  return { deprecation: `@${since.getTime() / 1_000}`, sunset: sunset.toUTCString() }
}

/** Adds the headers to all responses of every deprecated route that is registered after it. */
export const registerDeprecation = (app: FastifyInstance): void => {
  app.addHook('onRoute', (route) => {
    const deprecated = route.config?.deprecated
    if (deprecated === undefined) return
    const headers = deprecationHeaders(deprecated)
    const addHeaders: onRequestHookHandler = (_request, reply, done) => {
      reply.headers(headers)
      done()
    }
    route.onRequest = [addHeaders, ...[route.onRequest ?? []].flat()]
  })
}
