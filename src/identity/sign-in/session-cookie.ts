import { createHmac, timingSafeEqual } from 'node:crypto'

export const cookiePrefix = 'atrium'
export const sessionCookie = `${cookiePrefix}.session_token`
export const twoFactorCookie = `${cookiePrefix}.two_factor`

/** How long a session lasts after the console last asked for it. */
export const sessionSeconds = 7 * 86_400

/** Where the sign-in library reads the address of the person; set by us alone. */
export const clientAddressHeader = 'x-atrium-client-address'

/** By which a browser that signed in before is known; see known-browser.ts. */
export const browserCookie = `${cookiePrefix}.browser`

/**
 * What a cookie is called in HTTP. By https it has the prefix that browsers accept only from this very host, with
 * `Secure` and for all paths (RFC 6265bis, 4.1.3.2): neither a neighbouring subdomain nor plain http can set one.
 */
const nameOf = (name: string, secure: boolean): string => (secure ? `__Host-${name}` : name)

/** The value of a cookie as it was sent, or undefined. */
export const rawCookie = (header: string | undefined, name: string, secure: boolean): string | undefined => {
  if (header === undefined) return undefined
  const sent = nameOf(name, secure)
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === sent) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/** A Set-Cookie header as it is sent. */
export const sentCookie = (cookie: string, secure: boolean): string =>
  secure ? `${nameOf(cookie, true)}; Secure` : cookie

/**
 * The session's token out of a cookie of the form `<token>.<base64 of HMAC-SHA-256>`, percent-encoded, as Better Auth
 * signs them. Undefined when the signature is not ours.
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
