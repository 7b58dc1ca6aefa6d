import type { FastifyReply } from 'fastify'

/** Browsers use only https for a year. */
export const httpsOnly = 'max-age=31536000'

/**
 * The default headers of responses: they contain private data, so caches must not store them and browsers must not
 * execute them. `https`: whether browsers should use only https.
 */
export const defaultHeaders = (https: boolean): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  ...(https ? { 'strict-transport-security': httpsOnly } : {}),
})

/** With an entity tag: private caches may store the response and must revalidate it each time. */
export const revalidated = 'private, no-cache'

// Headers of a handler that then failed.
const ofTheContent = [
  'etag',
  'last-modified',
  'accept-ranges',
  'content-range',
  'content-disposition',
  'content-encoding',
  'content-length',
  'location',
]

/** Removes headers that describe the body of a failed handler, so that every error has the same headers. */
export const forgetContentHeaders = (reply: FastifyReply, defaults: Readonly<Record<string, string>>): void => {
  // Deleting a property of the header object slows down later accesses, so only existing ones are deleted.
  for (const field of ofTheContent) if (reply.hasHeader(field)) reply.removeHeader(field)
  reply.headers(defaults)
}
