import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { serviceUnavailable } from '../platform/http/errors.ts'
import type { OutboundResponse } from '../platform/outbound/outbound.ts'

const issuers = ['https://accounts.google.com', 'accounts.google.com']

/** Fetches a document of the provider, from the base URL that the operator configured. */
export type FetchDocument = (url: string) => Promise<OutboundResponse>

/** Google's signing keys: concurrent requests share a fetch, which is repeated after 10 minutes and for an unknown key id. */
const googleKeys = (fetchDocument: FetchDocument): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL('https://www.googleapis.com/oauth2/v3/certs'), {
    [customFetch]: async (url) => {
      const { status, body } = await fetchDocument(url)
      return new Response(body.toString('utf8'), { status })
    },
  })

const isInvalidToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC'

/**
 * Reads a Google identity token: its claims, or undefined if it is invalid for this audience at this time. Rejects with
 * SERVICE_UNAVAILABLE if Google's keys cannot be fetched, so that the sender retries.
 */
export type ReadToken = (token: string, audience: string, nowMs: number) => Promise<JWTPayload | undefined>

/** `leewaySeconds` is the tolerance for `exp` and `nbf`. */
export const createTokenReader = (fetchDocument: FetchDocument, leewaySeconds: number): ReadToken => {
  const keys = googleKeys(fetchDocument)
  return async (token, audience, nowMs) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ['RS256'],
        issuer: issuers,
        audience,
        clockTolerance: leewaySeconds,
        currentDate: new Date(nowMs),
        requiredClaims: ['exp', 'iat'],
      })
      return payload
    } catch (error) {
      if (isInvalidToken(error)) return undefined
      throw serviceUnavailable("Google's signing keys cannot be fetched right now.", { cause: error })
    }
  }
}
