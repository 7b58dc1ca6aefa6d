import type { FastifyReply } from 'fastify'

/** Browsers are to come back by https for a year. */
export const httpsOnly = 'max-age=31536000'

/**
 * What every answer says unless its route says otherwise: an answer of the API is data about somebody, to be kept by
 * no cache and run by no browser. `https`: whether browsers are to come back by https only.
 */
export const defaultHeaders = (https: boolean): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  ...(https ? { 'strict-transport-security': httpsOnly } : {}),
})

/** With an entity tag: a private cache may keep it, and has to ask each time whether it still holds. */
export const revalidated = 'private, no-cache'

// Set by a handler for the answer that it then failed to give.
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

/** Takes back what was said about a body that is not coming, so that an error looks the same whenever it happened. */
export const forgetContentHeaders = (reply: FastifyReply, defaults: Readonly<Record<string, string>>): void => {
  // Deleting from the object that holds the fields slows down every later access: only what is there.
  for (const field of ofTheContent) if (reply.hasHeader(field)) reply.removeHeader(field)
  reply.headers(defaults)
}
