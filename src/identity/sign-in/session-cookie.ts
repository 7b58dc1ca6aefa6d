import { createHmac, timingSafeEqual } from 'node:crypto'
import { unauthorized } from '../../platform/http/errors.ts'

export const noSession = unauthorized('The session is invalid: it has ended or expired. Sign in again.')

export const cookiePrefix = 'atrium'
export const sessionCookie = `${cookiePrefix}.session_token`
export const twoFactorCookie = `${cookiePrefix}.two_factor`

/** How long a session lasts after the console last requested it. */
export const sessionSeconds = 7 * 86_400

/** The header in which Better Auth reads the client address; only our code sets it. */
export const clientAddressHeader = 'x-atrium-client-address'

/** The device cookie; see known-browser.ts. */
export const browserCookie = `${cookiePrefix}.browser`

/**
 * The name of a cookie in HTTP. With https it has the prefix `__Host-`, which browsers accept only from this host, with
 * `Secure` and `Path=/` (RFC 6265bis, 4.1.3.2), so that neither another subdomain nor plain http can set it.
 */
const nameOf = (name: string, secure: boolean): string => (secure ? `__Host-${name}` : name)

/** The undecoded value of a cookie in the Cookie header. */
export const rawCookie = (header: string | undefined, name: string, secure: boolean): string | undefined => {
  if (header === undefined) return undefined
  const sent = nameOf(name, secure)
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === sent) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/** Adds the prefix and `Secure` to a Set-Cookie header when the browser uses https. */
export const sentCookie = (cookie: string, secure: boolean): string =>
  secure ? `${nameOf(cookie, true)}; Secure` : cookie

/**
 * The session token in a cookie `<token>.<base64 of HMAC-SHA-256>`, percent-encoded, as Better Auth signs them. Undefined
 * when the signature is wrong.
 */
export const sessionTokenOf = (cookie: string, secret: string): string | undefined => {
  let value: string
  try {
    value = decodeURIComponent(cookie)
  } catch {
    return undefined
  }
  const dot = value.lastIndexOf('.')
  if (dot < 1) return undefined
  const token = value.slice(0, dot)
  const given = Buffer.from(value.slice(dot + 1), 'base64')
  const expected = createHmac('sha256', secret).update(token).digest()
  return given.length === expected.length && timingSafeEqual(given, expected) ? token : undefined
}
