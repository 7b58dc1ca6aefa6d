import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { browserCookie, rawCookie } from './session-cookie.ts'
import type { Visit } from './sign-in-library.ts'

// A browser that has signed in keeps a cookie of the form `<id>.<proof>.<proof>…`: one proof for each password that it
// signed in with. Attempts that carry a proof have a budget of their own, so that nobody elsewhere can use up the budget
// of the person ("device cookies", OWASP). A proof is good for one password: what one org's link opened is no browser
// that another org's password knows. It lets nobody in.

const maxProofs = 8
const secondsToKeep = 365 * 86_400

const proofOf = (secret: string, id: string, passwordId: string): string =>
  createHmac('sha256', secret).update(`known browser ${id} ${passwordId}`).digest('base64url').slice(0, 22)

const partsOf = (visit: Visit): { id: string; proofs: string[] } | undefined => {
  const [id = '', ...proofs] = rawCookie(visit.cookies, browserCookie, visit.secure)?.split('.') ?? []
  return /^[\w-]{22}$/.test(id) ? { id, proofs: proofs.slice(0, maxProofs) } : undefined
}

/** The id of the browser, when it has signed in with this password. */
export const knownBrowser = (visit: Visit, secret: string, passwordId: string): string | undefined => {
  const parts = partsOf(visit)
  if (!parts) return undefined
  const expected = Buffer.from(proofOf(secret, parts.id, passwordId))
  const isKnown = parts.proofs.some((proof) => {
    const given = Buffer.from(proof)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return isKnown ? parts.id : undefined
}

/** The Set-Cookie header by which the browser is known from now on. */
export const rememberBrowser = (visit: Visit, secret: string, passwordIds: readonly string[]): string => {
  const parts = partsOf(visit) ?? { id: randomBytes(16).toString('base64url'), proofs: [] }
  const added = passwordIds.map((passwordId) => proofOf(secret, parts.id, passwordId))
  const proofs = [...new Set([...added, ...parts.proofs])].slice(0, maxProofs)
  const value = [parts.id, ...proofs].join('.')
  return `${browserCookie}=${value}; Max-Age=${secondsToKeep}; Path=/; HttpOnly; SameSite=Lax`
}
