import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import type { OutboundResponse } from '../../platform/outbound/outbound.ts'

const issuers = ['https://accounts.google.com', 'accounts.google.com']

/** Fetches a document of the provider; the operator may say that it is elsewhere. */
export type FetchDocument = (url: string) => Promise<OutboundResponse>

/** Google's signing keys: fetched once for all who wait, kept for ten minutes, again when a token names a new one. */
const googleKeys = (fetchDocument: FetchDocument): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL('https://www.googleapis.com/oauth2/v3/certs'), {
    [customFetch]: async (url) => {
      const { status, body } = await fetchDocument(url)
      return new Response(body.toString('utf8'), { status })
    },
  })

const isTokenFault = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC'

const claimsOf = async (
  keys: JWTVerifyGetKey,
  leewaySeconds: number,
  token: string,
  audience: string,
  nowMs: number,
): Promise<JWTPayload | undefined> => {
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
    if (isTokenFault(error)) return undefined
    // Not the sender's fault: it is to come again when the keys can be had.
    throw serviceUnavailable("Google's signing keys cannot be fetched right now.", { cause: error })
  }
}

/**
 * Reads an identity token of Google: its claims, or undefined when it is not one for this audience at this time, give or
 * take the leeway. Rejects with SERVICE_UNAVAILABLE when Google's keys cannot be had.
 */
export type ReadToken = (token: string, audience: string, nowMs: number) => Promise<JWTPayload | undefined>

export const createTokenReader = (fetchDocument: FetchDocument, leewaySeconds: number): ReadToken => {
  const keys = googleKeys(fetchDocument)
  return (token, audience, nowMs) => claimsOf(keys, leewaySeconds, token, audience, nowMs)
}
