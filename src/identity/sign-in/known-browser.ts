import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { browserCookie, rawCookie } from './session-cookie.ts'
import type { BrowserRequest } from './context.ts'

// Device cookies (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies): a browser that has
// signed in keeps a cookie `<id>.<proof>.<proof>…` with one proof per password. Attempts with a proof have a budget of
// their own, so an attacker cannot use up the budget of the person. A proof is valid for one password and is no
// credential.

const maxProofs = 8
const secondsToKeep = 365 * 86_400

const proofOf = (secret: string, id: string, passwordId: string): string =>
  createHmac('sha256', secret).update(`known browser ${id} ${passwordId}`).digest('base64url').slice(0, 22)

const partsOf = (request: BrowserRequest): { id: string; proofs: string[] } | undefined => {
  const [id = '', ...proofs] = rawCookie(request.cookies, browserCookie, request.secure)?.split('.') ?? []
  return /^[\w-]{22}$/.test(id) ? { id, proofs: proofs.slice(0, maxProofs) } : undefined
}

/** The id of the browser when it has signed in with this password before. */
export const knownBrowser = (request: BrowserRequest, secret: string, passwordId: string): string | undefined => {
  const parts = partsOf(request)
  if (!parts) return undefined
  const expected = Buffer.from(proofOf(secret, parts.id, passwordId))
  const isKnown = parts.proofs.some((proof) => {
    const given = Buffer.from(proof)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return isKnown ? parts.id : undefined
}

/** The Set-Cookie header that makes the browser known for these passwords. */
export const rememberBrowser = (request: BrowserRequest, secret: string, passwordIds: readonly string[]): string => {
  const parts = partsOf(request) ?? { id: randomBytes(16).toString('base64url'), proofs: [] }
  const added = passwordIds.map((passwordId) => proofOf(secret, parts.id, passwordId))
  const proofs = [...new Set([...added, ...parts.proofs])].slice(0, maxProofs)
  const value = [parts.id, ...proofs].join('.')
  return `${browserCookie}=${value}; Max-Age=${secondsToKeep}; Path=/; HttpOnly; SameSite=Lax`
}
